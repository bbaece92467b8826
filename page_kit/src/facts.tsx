import type { Facts } from "./document";

export function FactsSection({ section }: { section: Facts }) {
  return (
    <dl class="facts">
      {section.rows.map(([label, value], index) => (
        <div key={index}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
