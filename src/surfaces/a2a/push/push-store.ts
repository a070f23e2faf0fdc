import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import type { Clock } from "../../../platform/clock.ts";
import { digestText } from "../../../platform/digest.ts";
import type { Sessions } from "../../../session/sessions.ts";
import type { ProtocolVersion } from "../../../wire/a2a/dialect.ts";
import type { PushAuthentication, PushConfig } from "../../../wire/a2a/push/push-config.ts";

/** A config with the progress of its deliveries. */
export interface StoredPush {
  /** The principal that created the config. */
  readonly owner: string;
  readonly taskId: string;
  /** The log of the task: a session which was deleted may be created again under the same id. */
  readonly incarnation: string;
  readonly config: PushConfig;
  /** The version of the notifications. */
  readonly version: ProtocolVersion;
  /** The first notification is the task at this position. 0: the first is the beginning of the task. */
  readonly snapshotSeq: number;
  /** Position of the last update that the receiver acknowledged. 0: none. */
  readonly acknowledgedSeq: number;
  /** Whether the receiver acknowledged the end of the task. */
  readonly isDone: boolean;
}

export type PushRecords = Pick<
  Sessions,
  "readRecord" | "putRecord" | "deleteRecord" | "listRecords"
>;

const SCOPE = "a2a-push";
const DAY_MS = 86_400_000;
/** How long a config is stored after its last change, and after the end of its task. */
const CONFIG_MS = 7 * DAY_MS;
const DONE_MS = DAY_MS;
const PAGE_SIZE = 200;

/** The configs of all tasks, as records of the store. */
export class PushStore {
  readonly #records: PushRecords;
  readonly #clock: Clock;

  constructor(records: PushRecords, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  async read(key: string): Promise<StoredPush | undefined> {
    const record = await this.#records.readRecord(SCOPE, key);
    return record && readStored(record.value);
  }

  async put(push: StoredPush): Promise<void> {
    await this.#records.putRecord(SCOPE, formatPushKey(push), this.#createWrite(push));
  }

  /** Stores the progress of a config. A config that was deleted meanwhile stays deleted. */
  async update(
    key: string,
    change: Partial<Pick<StoredPush, "acknowledgedSeq" | "isDone">>,
  ): Promise<void> {
    for (;;) {
      const record = await this.#records.readRecord(SCOPE, key);
      const push = record && readStored(record.value);
      if (record === undefined || push === undefined) return;
      const write = {
        ...this.#createWrite({ ...push, ...change }),
        expectedVersion: record.version,
      };
      const { status } = await this.#records.putRecord(SCOPE, key, write);
      if (status === "stored") return;
    }
  }

  async delete(key: string): Promise<void> {
    await this.#records.deleteRecord(SCOPE, key);
  }

  async listTask(owner: string, taskId: string): Promise<readonly StoredPush[]> {
    const pushes: StoredPush[] = [];
    for await (const push of this.list(formatPushKey({ owner, taskId, config: { id: "" } })))
      pushes.push(push);
    return pushes;
  }

  /** Yields the configs whose key starts with a text. Default: all. */
  async *list(prefix = ""): AsyncGenerator<StoredPush> {
    let afterKey: string | undefined = prefix === "" ? undefined : prefix;
    do {
      const query = { scope: SCOPE, limit: PAGE_SIZE, ...omitUndefined({ afterKey }) };
      const page = await this.#records.listRecords(query);
      for (const { key, value } of page.records) {
        if (!key.startsWith(prefix)) return;
        const push = readStored(value);
        if (push !== undefined) yield push;
      }
      afterKey = page.nextKey;
    } while (afterKey !== undefined);
  }

  #createWrite({ config, ...push }: StoredPush) {
    const value: JsonObject = { ...push, config: encodeConfig(config) };
    return { value, expiresAt: this.#clock.now() + (push.isDone ? DONE_MS : CONFIG_MS) };
  }
}

/** The key of a config. The id comes last, because a client may choose any characters for the id. */
export function formatPushKey({
  owner,
  taskId,
  config,
}: Pick<StoredPush, "owner" | "taskId"> & { readonly config: { readonly id: string } }): string {
  return `${digestText(owner).slice(0, 32)}/${taskId}/${config.id}`;
}

function encodeConfig({ authentication, ...config }: PushConfig): JsonObject {
  return {
    ...config,
    ...(authentication !== undefined && { authentication: { ...authentication } }),
  };
}

/** The records of this scope are written by this module only. Undefined for a record of another version. */
function readStored(value: JsonValue): StoredPush | undefined {
  if (!isObject(value)) return undefined;
  const { owner, taskId, incarnation, snapshotSeq, acknowledgedSeq, isDone, version } = value;
  const config = readConfig(value["config"]);
  const isKnown =
    config !== undefined &&
    typeof owner === "string" &&
    typeof taskId === "string" &&
    typeof incarnation === "string" &&
    typeof snapshotSeq === "number" &&
    typeof acknowledgedSeq === "number" &&
    typeof isDone === "boolean" &&
    (version === "1.0" || version === "0.3");
  return isKnown
    ? { owner, taskId, incarnation, config, version, snapshotSeq, acknowledgedSeq, isDone }
    : undefined;
}

function readConfig(value: unknown): PushConfig | undefined {
  if (!isObject(value)) return undefined;
  const { id, url, token, authentication } = value;
  if (typeof id !== "string" || typeof url !== "string") return undefined;
  return {
    id,
    url,
    ...(typeof token === "string" && { token }),
    ...omitUndefined({ authentication: readAuthentication(authentication) }),
  };
}

function readAuthentication(value: unknown): PushAuthentication | undefined {
  if (!isObject(value)) return undefined;
  const { scheme, credentials } = value;
  if (typeof scheme !== "string") return undefined;
  return { scheme, ...(typeof credentials === "string" && { credentials }) };
}
