import { waitWithTimeout } from "../../../async/pause.ts";
import { requireRight, type Caller } from "../../../http/access/caller.ts";
import { randomHex } from "../../../platform/random.ts";
import { formatUnknownName } from "../../../text/unknown-name.ts";
import { A2aError, createParamsError } from "../../../wire/a2a/a2a-error.ts";
import type { ProtocolVersion } from "../../../wire/a2a/dialect.ts";
import type { PushConfig, SentPushConfig } from "../../../wire/a2a/push/push-config.ts";
import { isPrivateHost } from "../../webhooks/send-webhook.ts";
import { findTask, foldTask, type StoredTask } from "../stored-task.ts";
import type { PushOptions } from "./push-context.ts";
import { PushDispatcher } from "./push-dispatcher.ts";
import { formatPushKey, PushStore } from "./push-store.ts";
import { createKeyLoader } from "./signing-key.ts";

/** A config for a task that was found for its owner. */
export interface NewPush {
  readonly task: StoredTask;
  readonly taskId: string;
  readonly config: SentPushConfig;
  readonly version: ProtocolVersion;
  /** Sends the task from its beginning. Otherwise, the first notification is the task in its current state. */
  readonly isFromStart: boolean;
}

const MAX_CONFIGS_PER_TASK = 10;
const MAX_ACTIVE_CONFIGS = 100;
/** Milliseconds for the name of a receiver. A name that is not resolved by then is checked before each delivery. */
const LOOKUP_MS = 5000;

/** Push notification configs and their deliveries. */
export class PushService {
  readonly #options: PushOptions;
  readonly #store: PushStore;
  readonly #dispatcher: PushDispatcher;
  readonly #loadKey: ReturnType<typeof createKeyLoader>;

  constructor(options: PushOptions) {
    const store = new PushStore(options.sessions, options.clock);
    const loadKey = createKeyLoader(options.sessions);
    this.#options = options;
    this.#store = store;
    this.#loadKey = loadKey;
    this.#dispatcher = new PushDispatcher({ ...options, store, loadKey });
  }

  /** Delivers the notifications, until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#dispatcher.run(signal);
  }

  /** The public key of the signatures, as a set of JSON Web Keys. */
  async readKeys(): Promise<object> {
    const { publicKey } = await this.#loadKey();
    return { keys: [publicKey] };
  }

  /** Throws if a config cannot be accepted. Called before a message is sent, so that a refused message has no effect. */
  async check({ url }: SentPushConfig, caller: Caller): Promise<void> {
    requireRight(caller, "prompt", "Creating a push notification config");
    await checkReceiver(url, this.#options);
    if (this.#dispatcher.countRuns(caller.id) >= MAX_ACTIVE_CONFIGS)
      throw createLimitError(`You have ${MAX_ACTIVE_CONFIGS} push notification configs`);
  }

  /** Creates a config, or replaces the config with the same id, which continues after its last acknowledged update. */
  async create(
    { task, taskId, config, version, isFromStart }: NewPush,
    caller: Caller,
  ): Promise<PushConfig> {
    await this.check(config, caller);
    const owner = caller.id;
    const defaultId = version === "0.3" ? taskId : `push-${randomHex(12)}`;
    const created = { ...config, id: config.id ?? defaultId };
    const key = createKey(taskId, created.id, caller);
    await this.#dispatcher.stop(key);
    const configs = await this.#store.listTask(owner, taskId);
    const known = configs.find(({ config: { id } }) => id === created.id);
    if (known === undefined && configs.length >= MAX_CONFIGS_PER_TASK)
      throw createLimitError(`The task has ${configs.length} push notification configs`);
    const { incarnation } = task.record;
    const isContinued = known !== undefined && (!known.isDone || known.config.url === config.url);
    const progress = isContinued
      ? known
      : {
          snapshotSeq: isFromStart ? 0 : (await foldTask(this.#options.sessions, task)).sequence,
          acknowledgedSeq: 0,
          isDone: false,
        };
    const push = { ...progress, owner, taskId, incarnation, config: created, version };
    try {
      await this.#store.put(push);
    } finally {
      this.#dispatcher.start(push);
    }
    return created;
  }

  async get(taskId: string, configId: string, caller: Caller): Promise<PushConfig> {
    await findTask(this.#options.sessions, taskId, caller);
    const push = await this.#store.read(createKey(taskId, configId, caller));
    if (push !== undefined) return push.config;
    throw new A2aError("TASK_NOT_FOUND", formatUnknownName("Push notification config", configId));
  }

  async list(taskId: string, caller: Caller): Promise<readonly PushConfig[]> {
    await findTask(this.#options.sessions, taskId, caller);
    const pushes = await this.#store.listTask(caller.id, taskId);
    return pushes.map(({ config }) => config);
  }

  /** Resolves when no further notification is sent, also for a config that does not exist. */
  async delete(taskId: string, configId: string, caller: Caller): Promise<void> {
    await findTask(this.#options.sessions, taskId, caller);
    const key = createKey(taskId, configId, caller);
    await this.#store.delete(key);
    await this.#dispatcher.stop(key);
  }
}

function createKey(taskId: string, id: string, { id: owner }: Caller): string {
  return formatPushKey({ owner, taskId, config: { id } });
}

/** Refuses an address that notifications would never reach. Each delivery checks the address again. */
async function checkReceiver(text: string, { allowPrivate, clock }: PushOptions): Promise<void> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAllowed = url?.protocol === "https:" || (url?.protocol === "http:" && allowPrivate);
  if (url === undefined || !isAllowed || url.username !== "" || url.password !== "")
    throw createParamsError(
      "The url of the receiver is not valid: expected an https URL without a user name",
    );
  if (allowPrivate) return;
  const isPrivate = await waitWithTimeout(clock, LOOKUP_MS, isPrivateHost(url));
  if (isPrivate === true)
    throw createParamsError(
      `The url of the receiver is not valid: expected a public address, and ${url.hostname} is an address of a private network`,
    );
}

function createLimitError(found: string): A2aError {
  return createParamsError(`${found}, which is the limit. Fix: delete a config that is not needed`);
}
