/** What people see of a message, while it comes: its text without what a model says to itself or to its tools. */
export interface VisibleText {
  /** Might be the beginning of a tag. */
  held: string;
  /** The tag that ends what is hidden at the moment. */
  hiddenUntil: string | undefined;
  /** A tag counts only where a line begins; within one it is what the model talks about. */
  atLineStart: boolean;
  /** All so far; undefined when it is more than one line of the wire can say. */
  text: string | undefined;
  length: number;
  /** How long it was when the client last had it whole. */
  told: number;
}

export function noVisibleText(): VisibleText {
  return {
    held: "",
    hiddenUntil: undefined,
    atLineStart: true,
    text: "",
    length: 0,
    told: UNTOLD,
  };
}

/** Takes the next piece of a message, and gives what can be seen of it. Looks at each character once or twice. */
export function seenOf(visible: VisibleText, piece: string, most: number): string {
  let rest = visible.held + piece;
  let seen = "";
  visible.held = "";
  while (rest !== "") {
    const { out, left } =
      visible.hiddenUntil === undefined ? show(visible, rest) : hide(visible, rest);
    seen += out;
    rest = left;
  }
  keep(visible, seen, most);
  return seen;
}

/** The end of a block: what looked like the beginning of a tag was none. */
export function seenAtEnd(visible: VisibleText, most: number): string {
  const seen = visible.hiddenUntil === undefined ? visible.held : "";
  visible.held = "";
  visible.hiddenUntil = undefined;
  visible.atLineStart = true;
  keep(visible, seen, most);
  return seen;
}

interface Looked {
  readonly out: string;
  /** What is still to be looked at. */
  readonly left: string;
}

function show(visible: VisibleText, rest: string): Looked {
  const at = tagStart(rest, visible.atLineStart);
  if (at > 0) {
    visible.atLineStart = rest.charCodeAt(at - 1) === NEWLINE;
    return { out: rest.slice(0, at), left: rest.slice(at) };
  }
  const tag = TAGS.find((one) => rest.startsWith(one));
  if (tag !== undefined) {
    visible.hiddenUntil = `</${tag.slice(1)}`;
    return { out: "", left: rest.slice(tag.length) };
  }
  if (TAGS.some((one) => one.startsWith(rest))) {
    visible.held = rest;
    return { out: "", left: "" };
  }
  visible.atLineStart = false;
  return { out: rest.slice(0, 1), left: rest.slice(1) };
}

/** Where the first `<` is that begins a line; the whole length where there is none. */
function tagStart(rest: string, atLineStart: boolean): number {
  if (atLineStart && rest.startsWith("<")) return 0;
  const found = rest.indexOf("\n<");
  return found === -1 ? rest.length : found + 1;
}

function hide(visible: VisibleText, rest: string): Looked {
  const { hiddenUntil = "" } = visible;
  const end = rest.indexOf(hiddenUntil);
  if (end === -1) {
    visible.held = rest.slice(-(hiddenUntil.length - 1));
    return { out: "", left: "" };
  }
  visible.hiddenUntil = undefined;
  visible.atLineStart = true;
  return { out: "", left: rest.slice(end + hiddenUntil.length) };
}

function keep(visible: VisibleText, seen: string, most: number): void {
  visible.length += seen.length;
  if (visible.text === undefined) return;
  visible.text = visible.length > most ? undefined : visible.text + seen;
}

/** As models write them that have no other way to say it. */
const TAGS = ["<think>", "<thinking>", "<tool_call>", "<tool_result>"];
const NEWLINE = 0x0a;

/** Of a message whose first chunk has not been sent. */
export const UNTOLD = -1;
