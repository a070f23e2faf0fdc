import type { Emit } from "../../domain/codec.ts";

export interface SseEvent {
  readonly type: "event";
  /** Empty if the event has no `event` field. */
  readonly event: string;
  readonly data: string;
  readonly id?: string;
  readonly retry?: number;
  /** Position of the first line of the event in the stream. */
  readonly offset: number;
}

/** The fields of an event whose final blank line has not arrived yet. */
export interface PendingEvent {
  /** Position of the first line. Undefined before the first line. */
  offset: number | undefined;
  /** Bytes of all lines of the event together. */
  bytes: number;
  name: string;
  data: string | undefined;
  id: string | undefined;
  retry: number | undefined;
  /** The caller's `skip` refused a data line of the event. */
  isSkipped: boolean;
  /** The event exceeds the size limit. */
  isDropped: boolean;
}

export function createPendingEvent(): PendingEvent {
  return {
    offset: undefined,
    bytes: 0,
    name: "",
    data: undefined,
    id: undefined,
    retry: undefined,
    isSkipped: false,
    isDropped: false,
  };
}

export function clearEvent(event: PendingEvent): void {
  event.offset = undefined;
  event.bytes = 0;
  event.name = "";
  event.data = undefined;
  event.id = undefined;
  event.retry = undefined;
  event.isSkipped = false;
  event.isDropped = false;
}

/** A line as a range of a buffer: creating a view per line costs as much as finding the end of the line. */
export interface Line {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/**
 * Reads one line with a field. The line is neither empty nor a comment. Unknown fields are ignored, as the HTML
 * standard requires.
 */
export function readField(event: PendingEvent, line: Line): void {
  if (isDataLine(line)) {
    const value = decodeText(line, findDataStart(line));
    event.data = event.data === undefined ? value : `${event.data}\n${value}`;
    return;
  }
  const [name, value] = splitField(decodeText(line, line.start));
  if (name === "event") event.name = value;
  else if (name === "id" && !value.includes("\0")) event.id = value;
  else if (name === "retry" && RETRY.test(value)) event.retry = Number(value);
}

export function isDataLine({ bytes, start, end }: Line): boolean {
  return (
    end - start >= 4 &&
    bytes[start] === 0x64 &&
    bytes[start + 1] === 0x61 &&
    bytes[start + 2] === 0x74 &&
    bytes[start + 3] === 0x61 &&
    (end - start === 4 || bytes[start + 4] === COLON)
  );
}

/** Returns the position of the value of a data line. Beyond the end of the line if the value is absent. */
export function findDataStart({ bytes, start }: Line): number {
  return bytes[start + 5] === SPACE ? start + 6 : start + 5;
}

export function readComment(line: Line): string {
  return splitField(decodeText(line, line.start))[1];
}

function decodeText(line: Line, from: number): string {
  return utf8.decode(line.bytes.subarray(from, line.end));
}

function splitField(line: string): readonly [name: string, value: string] {
  const colon = line.indexOf(":");
  if (colon === -1) return [line, ""];
  const value = line.startsWith(" ", colon + 1) ? colon + 2 : colon + 1;
  return [line.slice(0, colon), line.slice(value)];
}

/** Emits the event if it has data, and resets the fields for the next event. */
export function dispatchEvent(event: PendingEvent, emit: Emit<SseEvent>): void {
  const { offset, name, data, id, retry } = event;
  if (offset !== undefined && data !== undefined) {
    const bare: SseEvent = { type: "event", event: name, data, offset };
    const withId = id === undefined ? bare : { ...bare, id };
    emit(retry === undefined ? withId : { ...withId, retry });
  }
  clearEvent(event);
}

// A byte order mark inside the stream is text; the mark at the start was removed before.
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
/** Digits only; up to 15 digits are exact in a number. */
const RETRY = /^[0-9]{1,15}$/;
const COLON = 0x3a;
const SPACE = 0x20;
