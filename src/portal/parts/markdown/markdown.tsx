import { memo, useMemo, useState, type ReactNode } from "react";
import { CodeBlock } from "./code-block.tsx";
import {
  lexBlock,
  mayUseDefinitions,
  type Alignment,
  type BlockNode,
  type InlineNode,
  type ListNode,
  type TableNode,
} from "./lex-block.ts";
import {
  EMPTY_MARKDOWN,
  updateMarkdown,
  type LinkDefinitions,
  type MarkdownBlock,
  type MarkdownStream,
} from "./split-markdown.ts";
import { ScrollBox } from "../scroll-box.tsx";
import { UntrustedText } from "../untrusted-text.tsx";
import "../content.css";

/**
 * Untrusted Markdown which may still grow. More text renders only the last block again. No HTML is ever created from
 * the text.
 */
export function Markdown({
  text,
  isStreaming = false,
}: {
  readonly text: string;
  readonly isStreaming?: boolean;
}): ReactNode {
  const { finished, open, definitions } = useMarkdown(text);
  return (
    <div className="part-markdown" dir="auto" data-streaming={isStreaming}>
      {finished.map((block) => (
        <Block key={block.start} block={block} definitions={selectFor(block, definitions)} />
      ))}
      {open !== null && (
        <Block
          key={open.start}
          block={open}
          definitions={selectFor(open, definitions)}
          isOpen={isStreaming}
        />
      )}
    </div>
  );
}

/** Keeps the split text between renders. */
function useMarkdown(text: string): MarkdownStream {
  const [stream, setStream] = useState(() => updateMarkdown(EMPTY_MARKDOWN, text));
  const next = updateMarkdown(stream, text);
  if (next !== stream) setStream(next);
  return next;
}

const NO_DEFINITIONS: LinkDefinitions = new Map();

/** A new definition must not render all other blocks again. */
function selectFor(block: MarkdownBlock, definitions: LinkDefinitions): LinkDefinitions {
  const isUser = block.kind === "markup" && definitions.size > 0 && mayUseDefinitions(block.source);
  return isUser ? definitions : NO_DEFINITIONS;
}

const Block = memo(function Block({
  block,
  definitions,
  isOpen = false,
}: {
  readonly block: MarkdownBlock;
  readonly definitions: LinkDefinitions;
  readonly isOpen?: boolean;
}): ReactNode {
  const nodes = useMemo(
    () => (block.kind === "code" ? [] : lexBlock(block.source, definitions)),
    [block, definitions],
  );
  if (block.kind === "code")
    return <CodeBlock code={block.code} language={block.language} isOpen={isOpen} />;
  return <Blocks nodes={nodes} />;
});

function Blocks({ nodes }: { readonly nodes: readonly BlockNode[] }): ReactNode {
  return nodes.map((node, index) => <BlockElement key={index} node={node} />);
}

function BlockElement({ node }: { readonly node: BlockNode }): ReactNode {
  switch (node.kind) {
    case "paragraph":
      return (
        <p dir="auto">
          <Inlines nodes={node.children} />
        </p>
      );
    case "heading":
      // One level for all: the headings of a message are below those of the page, and may skip levels.
      return (
        <h3 dir="auto" data-depth={node.depth}>
          <Inlines nodes={node.children} />
        </h3>
      );
    case "quote":
      return (
        <blockquote>
          <Blocks nodes={node.children} />
        </blockquote>
      );
    case "list":
      return <List node={node} />;
    case "table":
      return <Table node={node} />;
    case "code":
      return <CodeBlock code={node.code} language={node.language} />;
    case "rule":
      return <hr />;
    case "plain":
      return (
        <p className="part-plain" dir="auto">
          <UntrustedText text={node.text} kind="prose" />
        </p>
      );
  }
}

function List({ node }: { readonly node: ListNode }): ReactNode {
  const items = node.items.map(({ checked, children }, index) => (
    <li key={index} className={checked === null ? undefined : "part-task"} dir="auto">
      {checked !== null && (
        <input type="checkbox" checked={checked} disabled aria-label={checked ? "Done" : "Open"} />
      )}
      {checked === null ? (
        <ItemContent nodes={children} />
      ) : (
        <div>
          <ItemContent nodes={children} />
        </div>
      )}
    </li>
  ));
  return node.start === null ? <ul>{items}</ul> : <ol start={node.start}>{items}</ol>;
}

function ItemContent({
  nodes,
}: {
  readonly nodes: readonly (BlockNode | InlineNode)[];
}): ReactNode {
  return nodes.map((node, index) =>
    isInline(node) ? (
      <InlineElement key={index} node={node} />
    ) : (
      <BlockElement key={index} node={node} />
    ),
  );
}

function isInline(node: BlockNode | InlineNode): node is InlineNode {
  return INLINE_KINDS.has(node.kind);
}

const INLINE_KINDS: ReadonlySet<string> = new Set<InlineNode["kind"]>([
  "text",
  "inline-code",
  "strong",
  "emphasis",
  "deleted",
  "link",
  "image",
  "break",
]);

function Table({ node }: { readonly node: TableNode }): ReactNode {
  const alignAt = (column: number): Alignment => node.align[column] ?? null;
  return (
    <ScrollBox className="part-table" label="Table">
      <table>
        <thead>
          <tr>
            {node.header.map((cell, column) => (
              <th key={column} scope="col" data-align={alignAt(column)}>
                <Inlines nodes={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {node.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} data-align={alignAt(column)}>
                  <Inlines nodes={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function Inlines({ nodes }: { readonly nodes: readonly InlineNode[] }): ReactNode {
  return nodes.map((node, index) => <InlineElement key={index} node={node} />);
}

function InlineElement({ node }: { readonly node: InlineNode }): ReactNode {
  switch (node.kind) {
    case "text":
      return <UntrustedText text={node.text} kind="prose" />;
    case "inline-code":
      return (
        <code dir="ltr">
          <UntrustedText text={node.text} kind="code" />
        </code>
      );
    case "strong":
      return (
        <strong>
          <Inlines nodes={node.children} />
        </strong>
      );
    case "emphasis":
      return (
        <em>
          <Inlines nodes={node.children} />
        </em>
      );
    case "deleted":
      return (
        <del>
          <Inlines nodes={node.children} />
        </del>
      );
    case "link":
      return (
        <ExternalLink href={node.href}>
          <Inlines nodes={node.children} />
        </ExternalLink>
      );
    case "image":
      return <ImageLink href={node.href} alt={node.alt} />;
    case "break":
      return <br />;
  }
}

/** The tooltip shows the real target, which the text may hide. */
function ExternalLink({
  href,
  children,
}: {
  readonly href: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      <bdi>{children}</bdi>
    </a>
  );
}

function ImageLink({
  href,
  alt,
}: {
  readonly href: string | null;
  readonly alt: string;
}): ReactNode {
  const label = <UntrustedText text={alt === "" ? "Image" : `Image: ${alt}`} />;
  return href === null ? label : <ExternalLink href={href}>{label}</ExternalLink>;
}
