// A button that copies text, where the browser lets a page do so.
import { useState } from "preact/hooks";

export function CopyButton({ text }: { text: string }) {
  const [said, setSaid] = useState("copy");
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setSaid("copied"),
      () => setSaid("not allowed here"),
    );
  };
  return "clipboard" in navigator ? (
    <button type="button" class="link" onClick={copy}>
      {said}
    </button>
  ) : null;
}
