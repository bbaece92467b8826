import type { Text } from "./document";

export function TextSection({ section }: { section: Text }) {
  return (
    <div class="text">
      {section.paragraphs.map((paragraph, index) => (
        <p key={index}>{paragraph}</p>
      ))}
      {section.code !== undefined && (
        <pre tabIndex={0} aria-label={`${section.title}: code`}>
          <code>{section.code}</code>
        </pre>
      )}
    </div>
  );
}
