import { createHash } from "node:crypto";
import { appendFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isObject, parseJson, type JsonValue } from "../../domain/json.ts";
import { readSavedFile } from "../../platform/saved-file.ts";
import type { Message } from "../brains/message.ts";

/** One thing that happened to a session. Its file is nothing but these, one to a line. */
export type SessionRecord =
  | {
      readonly type: "started";
      readonly at: number;
      readonly arn: string;
      readonly session: string;
      /** Whether the conversation from before goes on. */
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
  /** Resolves when the record would survive the end of this process. */
  append(record: SessionRecord): Promise<void>;
}

/** A log that lasts as long as the process: the session itself holds what it says. */
export const forgetfulLog: SessionLog = {
  read: async () => [],
  append: async () => {},
};

/** Readable by the user alone: it holds conversations. */
export function fileLog(path: string): SessionLog {
  let tail: Promise<unknown> = Promise.resolve();
  let prepared = false;
  const prepare = async (): Promise<string> => {
    if (prepared) return "";
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    prepared = true;
    // A process that was killed while it wrote leaves half a line; what follows must not join it.
    const text = await textOf(path);
    return text === "" || text.endsWith("\n") ? "" : "\n";
  };
  return {
    async read() {
      const lines = (await textOf(path)).split("\n");
      return lines.flatMap((line) => readRecord(line));
    },
    append(record) {
      const write = async (before: Promise<unknown>): Promise<void> => {
        await before;
        const separator = await prepare();
        await appendFile(path, `${separator}${JSON.stringify(record)}\n`, { mode: 0o600 });
      };
      const written = write(tail);
      tail = written.catch(() => {});
      return written;
    },
  };
}

/** Ids may differ by case alone, and some file systems do not see that: the name is a digest. */
export function sessionPath(folder: string, arn: string, session: string): string {
  const digest = createHash("sha256").update(`${arn}\n${session}`).digest("hex");
  return join(folder, digest.slice(0, 40));
}

async function textOf(path: string): Promise<string> {
  return (await readSavedFile(path)) ?? "";
}

/** Half a line, the end of a process that was killed, is passed over. The rest is as we wrote it. */
function readRecord(line: string): SessionRecord[] {
  const parsed = parseJson(line);
  const isRecord = parsed.ok && isObject(parsed.value) && typeof parsed.value["type"] === "string";
  return isRecord ? [parsed.value as unknown as SessionRecord] : [];
}
