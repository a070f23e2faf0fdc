/** How the bytes of an answer are to be read. */
export type RuntimeFraming = "json" | "text" | "sse";

/** What the content type says: `sniff` and a guess where the first bytes have the last word; undefined for a stranger. */
export function parseDeclaredFraming(
  contentType: string,
): { readonly framing: RuntimeFraming; readonly sniff: boolean } | undefined {
  if (contentType === "") return { framing: "sse", sniff: true };
  if (contentType === "text/event-stream") return { framing: "sse", sniff: false };
  if (contentType === "text/plain") return { framing: "text", sniff: false };
  // Some apps pass an event stream on under the content type of JSON.
  return /[/+]json$/.test(contentType) ? { framing: "json", sniff: true } : undefined;
}

/** What the first bytes say; the guess stands where they do not; undefined while more of them may tell. */
export function sniffFraming(head: Uint8Array, guess: RuntimeFraming): RuntimeFraming | undefined {
  const text = String.fromCharCode(...head.subarray(0, MAX_HEAD_BYTES));
  const content = text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
  if (/^\s*["[{]/.test(content)) return "json";
  if (/^[\r\n]*(?:data|event)?:/.test(content)) return "sse";
  const isOpen = BYTE_ORDER_MARK.startsWith(text) || PARTIAL_FIELD.test(content);
  return isOpen && head.length < MAX_HEAD_BYTES ? undefined : guess;
}

const MAX_HEAD_BYTES = 64;
/** As its bytes are, each taken for a character. */
const BYTE_ORDER_MARK = "\u00ef\u00bb\u00bf";
const PARTIAL_FIELD = /^\s*(?:d|da|dat|data|e|ev|eve|even|event)?$/;
