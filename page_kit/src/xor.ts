// Ack vals: what was XORed to make one of the other.

export interface XorLine {
  name: string;
  digits: string;
}

const HEX = /^0x[0-9a-f]{1,64}$/i;
const NIBBLE = 4;
const BINARY_UP_TO = 16;

/** How many hexadecimal digits the longest of `values` has. */
export function widest(values: (string | undefined)[]): number {
  return values.reduce((most, value) => Math.max(most, (value?.length ?? 0) - 2), 1);
}

/** Before, what was XORed, and after, in `digits` digits: in binary if they are few. Empty if they are no numbers. */
export function xorLines(before: string, after: string, digits: number): XorLine[] {
  if (!HEX.test(before) || !HEX.test(after)) return [];
  const [one, other] = [BigInt(before), BigInt(after)];
  const values: [string, bigint][] = [
    ["ack val before", one],
    ["XOR", one ^ other],
    ["ack val after", other],
  ];
  const binary = digits * NIBBLE <= BINARY_UP_TO;
  const show = (value: bigint) =>
    binary ? value.toString(2).padStart(digits * NIBBLE, "0") : `0x${value.toString(16).padStart(digits, "0")}`;
  return values.map(([name, value]) => ({ name, digits: show(value) }));
}

/** Whether the ack val became zero. */
export function settles(before: string, after: string): boolean {
  return HEX.test(before) && HEX.test(after) && BigInt(before) !== 0n && BigInt(after) === 0n;
}
