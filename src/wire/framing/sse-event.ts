import type { Emit } from "../../domain/codec.ts";

export interface SseEvent {
  readonly type: "event";
  /** Empty when the event has no such field. */
  readonly event: string;
  readonly data: string;
  readonly id?: string;
  readonly retry?: number;
  /** Where the event's first line starts in the stream. */
  readonly offset: number;
}

/** The fields of an event whose blank line has not come yet. */
export interface PendingEvent {
  /** Where its first line starts; undefined before that line. */
  offset: number | undefined;
  /** What its lines have together. */
  bytes: number;
  name: string;
  data: string | undefined;
  id: string | undefined;
  retry: number | undefined;
  /** A line of it was refused by the caller. */
  isSkipped: boolean;
  /** It is larger than the limit. */
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

/** The bytes of a line where they lie: making a view of each costs as much as finding its end. */
export interface Line {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** Reads one line that is neither empty nor a comment. Unknown fields mean nothing. */
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

/** Where the value of a data line starts; beyond its end when it has none. */
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

/** Gives out an event that has data, and makes ready for the next. */
export function dispatchEvent(event: PendingEvent, emit: Emit<SseEvent>): void {
  const { offset, name, data, id, retry } = event;
  if (offset !== undefined && data !== undefined) {
    const bare: SseEvent = { type: "event", event: name, data, offset };
    const withId = id === undefined ? bare : { ...bare, id };
    emit(retry === undefined ? withId : { ...withId, retry });
  }
  clearEvent(event);
}

// A mark inside the stream is text; the one at its start never comes here.
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
/** Digits only, and few enough to be exact. */
const RETRY = /^[0-9]{1,15}$/;
const COLON = 0x3a;
const SPACE = 0x20;
