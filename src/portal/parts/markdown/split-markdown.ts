/**
 * A Markdown text which grows at its end, split into blocks. Finished blocks never change; only the open block is
 * parsed again for more text. The blocks depend on the text alone, not on how it arrived.
 */
export interface MarkdownStream {
  readonly text: string;
  /** In order. A stable list: more text adds blocks and keeps the others. */
  readonly finished: readonly MarkdownBlock[];
  /** The text after the finished blocks. Null if there is none. */
  readonly open: MarkdownBlock | null;
  /** Link definitions by normalized label, from the whole text. The same map until a definition is added. */
  readonly definitions: LinkDefinitions;
  readonly position: Position;
}

export type MarkdownBlock = MarkupBlock | CodeBlock;

/** Some paragraphs, lists or tables, to be parsed on their own. */
export interface MarkupBlock {
  readonly kind: "markup";
  /** Position in the text. Identifies the block. */
  readonly start: number;
  readonly source: string;
}

/** A fenced code block outside of lists and quotes. */
export interface CodeBlock {
  readonly kind: "code";
  readonly start: number;
  /** The first word after the fence. Empty if there is none. */
  readonly language: string;
  readonly code: string;
}

export type LinkDefinitions = ReadonlyMap<string, LinkDefinition>;

export interface LinkDefinition {
  readonly href: string;
  readonly title: string | undefined;
}

/** How far the text is split. Lines before `nextLine` are complete and classified. */
interface Position {
  readonly blockStart: number;
  readonly nextLine: number;
  /** The previous line is blank. */
  readonly isAfterBlank: boolean;
  /** The open block contains a line which may be a list item. */
  readonly hasList: boolean;
  /** Start of the last list item without indentation in the open block. Null if there is none after the first line. */
  readonly lastItem: number | null;
  readonly fence: Fence | null;
}

interface Fence {
  readonly character: string;
  readonly length: number;
  readonly indent: number;
  readonly language: string;
  /** Start of the first line of code. */
  readonly codeStart: number;
}

/**
 * Limits for the open block, in characters: the cost of one more delta. A longer list is split between two items, any
 * other block at a line break if possible.
 */
const MAX_LIST_LENGTH = 4000;
export const MAX_BLOCK_LENGTH = 8000;
const MAX_DEFINITIONS = 200;

const START: Position = {
  blockStart: 0,
  nextLine: 0,
  isAfterBlank: false,
  hasList: false,
  lastItem: null,
  fence: null,
};

export const EMPTY_MARKDOWN: MarkdownStream = {
  text: "",
  finished: [],
  open: null,
  definitions: new Map(),
  position: START,
};

/** Continues the stream with the whole text so far. A text that does not continue the previous text is split anew. */
export function updateMarkdown(stream: MarkdownStream, wholeText: string): MarkdownStream {
  const text = wholeText.includes("\r") ? wholeText.replaceAll(/\r\n?/g, "\n") : wholeText;
  if (text === stream.text) return stream;
  const splitter = new Splitter(text, text.startsWith(stream.text) ? stream : EMPTY_MARKDOWN);
  return splitter.run();
}

class Splitter {
  readonly #text: string;
  readonly #previous: MarkdownStream;
  readonly #added: MarkdownBlock[] = [];
  #definitions: LinkDefinitions;
  #blockStart: number;
  #nextLine: number;
  #isAfterBlank: boolean;
  #hasList: boolean;
  #lastItem: number | null;
  #fence: Fence | null;

  constructor(text: string, previous: MarkdownStream) {
    const { position } = previous;
    this.#text = text;
    this.#previous = previous;
    this.#definitions = previous.definitions;
    this.#blockStart = position.blockStart;
    this.#nextLine = position.nextLine;
    this.#isAfterBlank = position.isAfterBlank;
    this.#hasList = position.hasList;
    this.#lastItem = position.lastItem;
    this.#fence = position.fence;
  }

  run(): MarkdownStream {
    let end = this.#text.indexOf("\n", this.#nextLine);
    while (end !== -1) {
      this.#readLine(this.#nextLine, end);
      this.#nextLine = end + 1;
      end = this.#text.indexOf("\n", this.#nextLine);
    }
    if (this.#fence === null) this.#limitBlock(this.#nextLine, this.#text.length);
    const { finished } = this.#previous;
    return {
      text: this.#text,
      finished: this.#added.length === 0 ? finished : [...finished, ...this.#added],
      open: this.#createBlock(this.#text.length),
      definitions: this.#definitions,
      position: {
        blockStart: this.#blockStart,
        nextLine: this.#nextLine,
        isAfterBlank: this.#isAfterBlank,
        hasList: this.#hasList,
        lastItem: this.#lastItem,
        fence: this.#fence,
      },
    };
  }

  /** Classifies a complete line. */
  #readLine(start: number, end: number): void {
    const line = this.#text.slice(start, end);
    if (this.#fence !== null) {
      if (isClosingFence(line, this.#fence)) this.#finishBlock(end + 1);
      return;
    }
    this.#limitBlock(start, end);
    // The block was split inside this line, so the line start is not the start of anything.
    if (this.#blockStart > start) return;
    if (line.trim() === "") {
      this.#isAfterBlank = true;
      return;
    }
    const isListItem = LIST_ITEM.test(line);
    const fence = this.#readFence(line, end + 1);
    const startsBlock = this.#isAfterBlank && !/^\s/.test(line) && !(this.#hasList && isListItem);
    if (startsBlock || fence !== null) this.#finishBlock(start);
    this.#fence = fence;
    this.#isAfterBlank = false;
    this.#hasList ||= isListItem;
    if (isListItem && !/^\s/.test(line) && start > this.#blockStart) this.#lastItem = start;
    if (fence === null) this.#readDefinition(line);
  }

  /** Splits a block which is too long. `lineStart` is the start of the last line, which may be incomplete. */
  #limitBlock(lineStart: number, end: number): void {
    if (end - this.#blockStart > MAX_LIST_LENGTH && this.#lastItem !== null) {
      this.#finishBlock(this.#lastItem);
      this.#hasList = true;
    }
    if (end - this.#blockStart > MAX_BLOCK_LENGTH && lineStart > this.#blockStart)
      this.#finishBlock(lineStart);
    while (end - this.#blockStart > MAX_BLOCK_LENGTH)
      this.#finishBlock(avoidSurrogate(this.#text, this.#blockStart + MAX_BLOCK_LENGTH));
  }

  /** A fence inside a list item belongs to the list. */
  #readFence(line: string, codeStart: number): Fence | null {
    const match = OPENING_FENCE.exec(line);
    if (match === null) return null;
    const [, indent = "", fence = "", info = ""] = match;
    if (this.#hasList && indent !== "") return null;
    const language = /^\s*([^\s{,]*)/.exec(info)?.[1] ?? "";
    return {
      character: fence.charAt(0),
      length: fence.length,
      indent: indent.length,
      language,
      codeStart,
    };
  }

  #readDefinition(line: string): void {
    const [, label = "", href = "", title] = DEFINITION.exec(line) ?? [];
    const name = normalizeLabel(label);
    if (name === "" || this.#definitions.has(name) || this.#definitions.size >= MAX_DEFINITIONS)
      return;
    this.#definitions = new Map(this.#definitions).set(name, { href, title });
  }

  #finishBlock(end: number): void {
    const block = this.#createBlock(end);
    if (block !== null) this.#added.push(block);
    this.#blockStart = end;
    this.#isAfterBlank = false;
    this.#hasList = false;
    this.#lastItem = null;
    this.#fence = null;
  }

  #createBlock(end: number): MarkdownBlock | null {
    const start = this.#blockStart;
    const fence = this.#fence;
    if (fence !== null) {
      const code = readCode(this.#text.slice(fence.codeStart, end), fence);
      return { kind: "code", start, language: fence.language, code };
    }
    const source = this.#text.slice(start, end);
    return source.trim() === "" ? null : { kind: "markup", start, source };
  }
}

/** The info string of a backtick fence contains no backtick: such a line is inline code. */
const OPENING_FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const DEFINITION =
  /^ {0,3}\[([^[\]]{1,200})\]:\s*<?(\S{1,2000}?)>?(?:\s+["'(](.{0,500})["')])?\s*$/;

function isClosingFence(line: string, { character, length }: Fence): boolean {
  const trimmed = line.trim();
  return (
    trimmed.length >= length &&
    line.search(/\S/) <= 3 &&
    trimmed === character.repeat(trimmed.length)
  );
}

/** Returns the code between the fences, without the closing fence and without the indentation of the opening fence. */
function readCode(body: string, fence: Fence): string {
  const lastLine = body.endsWith("\n") ? body.lastIndexOf("\n", body.length - 2) + 1 : -1;
  const isClosed = lastLine !== -1 && isClosingFence(body.slice(lastLine), fence);
  const code = (isClosed ? body.slice(0, lastLine) : body).replace(/\n$/, "");
  if (fence.indent === 0) return code;
  return code.replaceAll(new RegExp(`^ {1,${fence.indent}}`, "gm"), "");
}

/** Moves a position out of a surrogate pair. */
function avoidSurrogate(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

function normalizeLabel(label: string): string {
  return label.trim().replaceAll(/\s+/g, " ").toLowerCase();
}
