import type { ReactNode } from "react";
import { LongText } from "../../parts/fold.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import "../../parts/parts.css";

/** One fact of an output: a text, or the items of a list. Facts without content are left out. */
export interface OutputFact {
  readonly name: string;
  readonly content: string | readonly string[];
}

export function OutputFacts({ facts }: { readonly facts: readonly OutputFact[] }): ReactNode {
  const present = facts.filter(({ content }) => content.length > 0);
  if (present.length === 0) return null;
  return (
    <dl className="thread-facts">
      {present.map(({ name, content }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {typeof content === "string" ? (
              <LongText text={content} label={name} kind="prose" maxLines={8} />
            ) : (
              <FactList items={content} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Further items are counted only. */
const MAX_ITEMS = 100;

function FactList({ items }: { readonly items: readonly string[] }): ReactNode {
  return (
    <ul>
      {items.slice(0, MAX_ITEMS).map((text, index) => (
        <li key={index}>
          <UntrustedText text={text.slice(0, MAX_ITEM_LENGTH)} />
        </li>
      ))}
      {items.length > MAX_ITEMS && <li>and {items.length - MAX_ITEMS} more</li>}
    </ul>
  );
}

const MAX_ITEM_LENGTH = 2000;
