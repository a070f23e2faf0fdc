/** The framing of a response body. */
export type RuntimeFraming = "json" | "text" | "sse";

/**
 * Maps a content type to a framing. If `sniff` is true, the framing is a guess and the first bytes decide. Undefined
 * for an unsupported type.
 */
export function parseDeclaredFraming(
  contentType: string,
): { readonly framing: RuntimeFraming; readonly sniff: boolean } | undefined {
  if (contentType === "") return { framing: "sse", sniff: true };
  if (contentType === "text/event-stream") return { framing: "sse", sniff: false };
  if (contentType === "text/plain") return { framing: "text", sniff: false };
  // Some apps send an event stream with the content type of JSON.
  return /[/+]json$/.test(contentType) ? { framing: "json", sniff: true } : undefined;
}

/**
 * Detects the framing from the first bytes. Returns the guess if they are ambiguous, or undefined while more bytes may
 * decide (up to 64).
 */
export function sniffFraming(head: Uint8Array, guess: RuntimeFraming): RuntimeFraming | undefined {
  const text = String.fromCharCode(...head.subarray(0, MAX_HEAD_BYTES));
  const content = text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
  if (/^\s*["[{]/.test(content)) return "json";
  if (/^[\r\n]*(?:data|event)?:/.test(content)) return "sse";
  const isOpen = BYTE_ORDER_MARK.startsWith(text) || PARTIAL_FIELD.test(content);
  return isOpen && head.length < MAX_HEAD_BYTES ? undefined : guess;
}

const MAX_HEAD_BYTES = 64;
/** The three bytes of the mark, one character each. */
const BYTE_ORDER_MARK = "\u00ef\u00bb\u00bf";
const PARTIAL_FIELD = /^\s*(?:d|da|dat|data|e|ev|eve|even|event)?$/;
