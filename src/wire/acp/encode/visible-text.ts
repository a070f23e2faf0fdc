/** What people see of a message, while it comes: its text without what a model says to itself or to its tools. */
export interface VisibleText {
  /** Might be the beginning of a tag. */
  pendingText: string;
  /** The tag that ends what is hidden at the moment. */
  closingTag: string | undefined;
  /** A tag counts only where a line begins; within one it is what the model talks about. */
  atLineStart: boolean;
  /** All so far; undefined when it is more than one line of the wire can say. */
  text: string | undefined;
  length: number;
  /** How long it was when the client last had it whole. */
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

/** Takes the next piece of a message, and gives what can be seen of it. Looks at each character once or twice. */
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

/** The end of a block: what looked like the beginning of a tag was none. */
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
  /** What is still to be looked at. */
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

/** Where the first `<` is that begins a line; the whole length where there is none. */
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

/** As models write them that have no other way to say it. */
const TAGS = ["<think>", "<thinking>", "<tool_call>", "<tool_result>"];
const NEWLINE = 0x0a;

/** Of a message whose first chunk has not been sent. */
export const NOT_SENT = -1;
