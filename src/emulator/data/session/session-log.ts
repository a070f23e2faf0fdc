import { createHash } from "node:crypto";
import { appendFile, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SpanlineError } from "../../../domain/errors.ts";
import { isObject, parseJson, type JsonValue } from "../../../data/json.ts";
import { makeFolder, readSavedFile } from "../../../platform/files/private-files.ts";
import type { Message } from "../../brains/session-message.ts";

/** A record in the log of a session. The file contains one record per line. */
export type SessionRecord =
  | {
      readonly type: "started";
      readonly at: number;
      readonly arn: string;
      readonly session: string;
      /** True if the earlier messages of the session are restored. */
      readonly remembers: boolean;
    }
  | {
      readonly type: "asked";
      readonly at: number;
      readonly turn: number;
      readonly messages: readonly Message[];
    }
  | {
      readonly type: "answered";
      readonly at: number;
      readonly turn: number;
      readonly messages: readonly Message[];
      readonly note: JsonValue;
    }
  | {
      readonly type: "forgotten";
      readonly at: number;
      readonly turn: number;
      readonly note: JsonValue;
    }
  | { readonly type: "used"; readonly at: number }
  | { readonly type: "stopped"; readonly at: number };

export interface SessionLog {
  read(): Promise<SessionRecord[]>;
  /** Resolves when the record survives the end of this process. */
  append(record: SessionRecord): Promise<void>;
}

/** A log without storage: the session state in memory ends with the process. */
export const memoryLog: SessionLog = {
  read: async () => [],
  append: async () => {},
};

/** A log in a file, readable only by the user, because it contains conversations. */
export function createFileLog(path: string): SessionLog {
  let tail: Promise<unknown> = Promise.resolve();
  let isPrepared = false;
  const prepare = async (): Promise<void> => {
    if (isPrepared) return;
    await makeFolder(dirname(path));
    await truncatePartialLine(path);
  };
  return {
    async read() {
      const text = (await readSavedFile(path)) ?? "";
      const lines = text.split("\n").slice(0, -1);
      return lines.map((line, index) => parseRecord(line, { path, line: index + 1 }));
    },
    append(record) {
      const write = async (previousWrite: Promise<unknown>): Promise<void> => {
        await previousWrite;
        await prepare();
        // A failed write may have written a part of the line.
        isPrepared = false;
        await appendFile(path, `${JSON.stringify(record)}\n`, { mode: 0o600 });
        isPrepared = true;
      };
      const result = write(tail);
      tail = result.catch(() => {});
      return result;
    },
  };
}

/** The file name is a digest, because ids may differ only by case and some file systems ignore case. */
export function resolveSessionPath(folder: string, arn: string, session: string): string {
  const digest = createHash("sha256").update(`${arn}\n${session}`).digest("hex");
  return join(folder, digest.slice(0, 40));
}

/**
 * Removes an incomplete last line, left by a failed write or a killed process. A record without a newline does not
 * count.
 */
async function truncatePartialLine(path: string): Promise<void> {
  const file = await open(path, "a+", 0o600);
  try {
    const bytes = await file.readFile();
    await file.truncate(bytes.lastIndexOf("\n") + 1);
  } finally {
    await file.close();
  }
}

interface LinePosition {
  readonly path: string;
  readonly line: number;
}

/** Throws on an invalid line: the records after a gap would be another conversation. */
function parseRecord(text: string, { path, line }: LinePosition): SessionRecord {
  const parsed = parseJson(text);
  const value: unknown = parsed.ok ? parsed.value : undefined;
  if (isSessionRecord(value)) return value;
  const reason = parsed.ok ? "not a session record" : `not JSON (${parsed.reason})`;
  const message = `Cannot read ${path}: line ${line} is ${reason}. Fix: move the file away to start the session again`;
  throw new SpanlineError("unreadable_input", message, { details: { path, line } });
}

function isSessionRecord(value: unknown): value is SessionRecord {
  if (!isObject(value) || typeof value["at"] !== "number") return false;
  const { type, turn, messages, note, remembers } = value;
  switch (type) {
    case "started":
      return typeof remembers === "boolean";
    case "asked":
      return Number.isSafeInteger(turn) && isMessageList(messages);
    case "answered":
      return Number.isSafeInteger(turn) && isMessageList(messages) && note !== undefined;
    case "forgotten":
      return Number.isSafeInteger(turn) && note !== undefined;
    case "used":
    case "stopped":
      return true;
    default:
      return false;
  }
}

function isMessageList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((message) => isObject(message) && Array.isArray(message["content"]))
  );
}
