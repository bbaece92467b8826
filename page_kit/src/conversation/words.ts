// Times and sizes in words.

const MICRO = 0.001;
const MINUTE = 60;
const HOUR = 3600;

/** Seconds from the start: 3.204 s, 2:03.204, 1:02:03. */
export function clock(seconds: number): string {
  if (seconds < MINUTE) return `${seconds.toFixed(3)} s`;
  const minutes = Math.floor((seconds % HOUR) / MINUTE);
  if (seconds < HOUR) return `${minutes}:${(seconds % MINUTE).toFixed(3).padStart(6, "0")}`;
  const whole = Math.floor(seconds % MINUTE);
  return `${Math.floor(seconds / HOUR)}:${String(minutes).padStart(2, "0")}:${String(whole).padStart(2, "0")}`;
}

/** A span of seconds: +12 µs, +3.2 ms, +1.25 s. */
export function span(seconds: number): string {
  const sign = seconds < 0 ? "-" : "+";
  const length = Math.abs(seconds);
  if (length < MICRO / 2000) return "0";
  if (length < MICRO) return `${sign}${Math.round(length * 1e6)} µs`;
  if (length < 1) return `${sign}${(length * 1e3).toFixed(length < 0.1 ? 1 : 0)} ms`;
  return `${sign}${length.toFixed(length < 100 ? 2 : 0)} s`;
}

const LONG_NUMBER = /\d{13,}/g;

/** A text of one line without the middle of its long numbers: message ids have up to 20 digits. */
export function brief(text: string): string {
  return text.replace(LONG_NUMBER, (digits) => `${digits.slice(0, 4)}…${digits.slice(-4)}`);
}

const KILO = 1024;

export function bytes(size: number): string {
  if (size < KILO) return `${size} B`;
  if (size < KILO * KILO) return `${(size / KILO).toFixed(1)} KiB`;
  return `${(size / KILO / KILO).toFixed(1)} MiB`;
}

export function counted(count: number, word: string): string {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}
