import { useEffect, useState, type ReactNode } from "react";
import { CopyButton } from "../copy-button.tsx";
import type { CodeNode } from "./highlighter.ts";
import { BoundedCache } from "../../../data/bounded-cache.ts";
import { ScrollBox } from "../scroll-box.tsx";
import { UntrustedText } from "../untrusted-text.tsx";
import { pluralize } from "../../../text/pluralize.ts";
import "../content.css";

/** Code with its language and a copy button. Finished code gets its colours when the highlighter is loaded. */
export function CodeBlock({
  code,
  language,
  isOpen = false,
}: {
  readonly code: string;
  readonly language: string;
  /** The code is still growing. */
  readonly isOpen?: boolean;
}): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const nodes = useHighlight(code, language, isOpen);
  const lines = isOpen || isWhole ? 0 : countLines(code);
  const isFolded = lines > MAX_LINES;
  return (
    <div className="part-code">
      <div className="part-code-head">
        <span className="part-code-language">
          <UntrustedText text={language === "" ? "text" : language.slice(0, 40)} />
        </span>
        <CopyButton text={code} label="Copy code" />
      </div>
      <ScrollBox
        className="part-code-scroll"
        label={language === "" ? "Code" : `Code in ${language}`}
      >
        <code>
          {isFolded ? (
            <UntrustedText text={code.slice(0, findLine(code, FOLDED_LINES))} kind="code" />
          ) : nodes === undefined ? (
            <UntrustedText text={code} kind="code" />
          ) : (
            <CodeNodes nodes={nodes} />
          )}
        </code>
      </ScrollBox>
      {isFolded && (
        <button type="button" className="part-text-button" onClick={() => setWhole(true)}>
          Show all {pluralize(lines, "line")}
        </button>
      )}
    </div>
  );
}

const MAX_LINES = 300;
const FOLDED_LINES = 200;
/** Characters. Longer code takes more than a few milliseconds, and stays without colours. */
const MAX_HIGHLIGHTED = 16_000;

function countLines(code: string): number {
  return code.split("\n").length;
}

function findLine(code: string, line: number): number {
  let at = -1;
  for (let count = 0; count < line; count++) at = code.indexOf("\n", at + 1);
  return at;
}

function CodeNodes({ nodes }: { readonly nodes: readonly CodeNode[] }): ReactNode {
  return nodes.map((node, index) =>
    typeof node === "string" ? (
      <UntrustedText key={index} text={node} kind="code" />
    ) : (
      <span key={index} className={node.className}>
        <CodeNodes nodes={node.children} />
      </span>
    ),
  );
}

/** Rows of a virtual list are mounted again and again: their colours are kept. The weight is the length of the code. */
const highlighted = new BoundedCache<readonly CodeNode[]>(500_000);

/** Undefined until the colours are known, and for code without colours. */
function useHighlight(
  code: string,
  language: string,
  isOpen: boolean,
): readonly CodeNode[] | undefined {
  const name = `${language}\n${code}`;
  const [, setLoaded] = useState("");
  const isPlain = isOpen || language === "" || code.length > MAX_HIGHLIGHTED;
  const nodes = isPlain ? undefined : highlighted.get(name);
  const isMissing = !isPlain && nodes === undefined;
  useEffect(() => {
    if (!isMissing) return undefined;
    let isCurrent = true;
    const highlight = async (): Promise<void> => {
      const { highlightCode } = await import("./highlighter.ts");
      await waitForIdle();
      if (!isCurrent) return;
      highlighted.set(name, highlightCode(code, language) ?? [code], code.length);
      setLoaded(name);
    };
    // Without the highlighter, for example after an update of the server, the code stays readable.
    highlight().catch(() => {});
    return () => {
      isCurrent = false;
    };
  }, [isMissing, name, code, language]);
  return nodes;
}

/** Colours can wait until the browser has nothing else to do. Safari has no idle callbacks. */
function waitForIdle(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof requestIdleCallback === "function") requestIdleCallback(() => resolve());
    else requestAnimationFrame(() => resolve());
  });
}
