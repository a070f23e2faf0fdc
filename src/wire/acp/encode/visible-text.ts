/**
 * The state of a message's visible text while the message streams: the text without the parts that a model addresses to
 * itself or its tools.
 */
export interface VisibleText {
  /** Text that may be the start of a tag. */
  pendingText: string;
  /** The tag that ends the hidden part. Undefined outside a hidden part. */
  closingTag: string | undefined;
  /** True at the start of a line. A tag counts only there; inside a line the tag is part of the text. */
  atLineStart: boolean;
  /** The whole visible text so far. Undefined if it exceeds the limit. */
  text: string | undefined;
  length: number;
  /** Length of the whole text when it was last sent to the client. */
  sentLength: number;
}

export function createVisibleText(): VisibleText {
  return {
    pendingText: "",
    closingTag: undefined,
    atLineStart: true,
    text: "",
    length: 0,
    sentLength: NOT_SENT,
  };
}

/**
 * Appends a piece of a message and returns its visible part. Each character is scanned at most twice, so streaming
 * takes linear time.
 */
export function appendVisibleText(visible: VisibleText, piece: string, maxLength: number): string {
  let input = visible.pendingText + piece;
  let appended = "";
  visible.pendingText = "";
  while (input !== "") {
    const { visibleText, remaining } =
      visible.closingTag === undefined ? scanVisible(visible, input) : scanHidden(visible, input);
    appended += visibleText;
    input = remaining;
  }
  recordVisible(visible, appended, maxLength);
  return appended;
}

/** Ends a block: buffered text that looked like the start of a tag becomes visible. */
export function finishVisibleText(visible: VisibleText, maxLength: number): string {
  const appended = visible.closingTag === undefined ? visible.pendingText : "";
  visible.pendingText = "";
  visible.closingTag = undefined;
  visible.atLineStart = true;
  recordVisible(visible, appended, maxLength);
  return appended;
}

interface ScanStep {
  readonly visibleText: string;
  /** Text that is not scanned yet. */
  readonly remaining: string;
}

function scanVisible(visible: VisibleText, input: string): ScanStep {
  const at = findTagStart(input, visible.atLineStart);
  if (at > 0) {
    visible.atLineStart = input.charCodeAt(at - 1) === NEWLINE;
    return { visibleText: input.slice(0, at), remaining: input.slice(at) };
  }
  const tag = TAGS.find((candidate) => input.startsWith(candidate));
  if (tag !== undefined) {
    visible.closingTag = `</${tag.slice(1)}`;
    return { visibleText: "", remaining: input.slice(tag.length) };
  }
  if (TAGS.some((candidate) => candidate.startsWith(input))) {
    visible.pendingText = input;
    return { visibleText: "", remaining: "" };
  }
  visible.atLineStart = false;
  return { visibleText: input.slice(0, 1), remaining: input.slice(1) };
}

/** Returns the position of the first `<` at the start of a line, or the length of the input if there is none. */
function findTagStart(input: string, atLineStart: boolean): number {
  if (atLineStart && input.startsWith("<")) return 0;
  const index = input.indexOf("\n<");
  return index === -1 ? input.length : index + 1;
}

function scanHidden(visible: VisibleText, input: string): ScanStep {
  const { closingTag = "" } = visible;
  const end = input.indexOf(closingTag);
  if (end === -1) {
    visible.pendingText = input.slice(-(closingTag.length - 1));
    return { visibleText: "", remaining: "" };
  }
  visible.closingTag = undefined;
  visible.atLineStart = true;
  return { visibleText: "", remaining: input.slice(end + closingTag.length) };
}

function recordVisible(visible: VisibleText, visibleText: string, maxLength: number): void {
  visible.length += visibleText.length;
  if (visible.text === undefined) return;
  visible.text = visible.length > maxLength ? undefined : visible.text + visibleText;
}

/** Tags that models without a separate reasoning channel write into their text. */
const TAGS = ["<think>", "<thinking>", "<tool_call>", "<tool_result>"];
const NEWLINE = 0x0a;

/** Value of `sentLength` before the first chunk of a message is sent. */
export const NOT_SENT = -1;
