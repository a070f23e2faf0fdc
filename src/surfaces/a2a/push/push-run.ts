import { pause } from "../../../async/pause.ts";
import { canUseSession } from "../../../http/access/caller.ts";
import { parseTaskId } from "../../../wire/a2a/task-id.ts";
import { isSessionDeleted } from "../../log/session-deleted.ts";
import { retryDelivery, type DeliveryProblem } from "../../webhooks/retry-delivery.ts";
import type { StoredTask } from "../stored-task.ts";
import { followNotifications, type Notification } from "./follow-notifications.ts";
import type { PushOptions } from "./push-context.ts";
import type { PushStore, StoredPush } from "./push-store.ts";
import { sendNotification } from "./send-notification.ts";
import type { SigningKey } from "./signing-key.ts";

export interface PushRunOptions extends PushOptions {
  readonly store: PushStore;
  readonly loadKey: () => Promise<SigningKey>;
}

const RETRY_MS = 5000;

/**
 * Delivers the notifications of one config in their order, until the task ends, the config is deleted or the signal
 * aborts. Never rejects. After an error of the store, the delivery continues after the last acknowledged update.
 */
export async function runPush(
  key: string,
  options: PushRunOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      return await new PushRun(key, options, signal).deliver();
    } catch (error) {
      if (signal.aborted) return;
      if (isSessionDeleted(error)) await options.store.delete(key).catch(options.report);
      if (isSessionDeleted(error)) return;
      options.report(error);
      await pause(options.clock, RETRY_MS, signal).catch(() => undefined);
    }
  }
}

class PushRun {
  readonly #key: string;
  readonly #options: PushRunOptions;
  readonly #signal: AbortSignal;

  constructor(key: string, options: PushRunOptions, signal: AbortSignal) {
    this.#key = key;
    this.#options = options;
    this.#signal = signal;
  }

  async deliver(): Promise<void> {
    const { store, sessions } = this.#options;
    const push = await store.read(this.#key);
    if (push === undefined || push.isDone) return;
    const task = await this.#findTask(push);
    if (task === "gone") return store.delete(this.#key);
    if (task === "forbidden") return;
    for await (const notification of followNotifications(sessions, task, push, this.#signal)) {
      const outcome = await this.#send(notification);
      if (outcome === "deleted") return;
      if (outcome !== "delivered") return this.#giveUp(push, outcome);
      await store.update(this.#key, { acknowledgedSeq: notification.sequence });
    }
    // A server that closes ends the notifications of a working task, too.
    if (!this.#signal.aborted) await store.update(this.#key, { isDone: true });
  }

  async #findTask({
    owner,
    taskId,
    incarnation,
  }: StoredPush): Promise<StoredTask | "gone" | "forbidden"> {
    const { sessions, callers } = this.#options;
    const position = parseTaskId(taskId);
    const record = position === null ? undefined : await sessions.find(position.sessionId);
    if (position === null || record?.incarnation !== incarnation) return "gone";
    const isAllowed = callers.some(
      (caller) => caller.id === owner && canUseSession(caller, record),
    );
    return isAllowed ? { record, position } : "forbidden";
  }

  /** The config is read before each attempt, because another process may have deleted or changed the config. */
  async #send(notification: Notification): Promise<"delivered" | "deleted" | DeliveryProblem> {
    const options = this.#options;
    const signal = this.#signal;
    const key = await options.loadKey();
    let isDeleted = false;
    const attempt = async (): Promise<DeliveryProblem | undefined> => {
      const push = await options.store.read(this.#key);
      signal.throwIfAborted();
      isDeleted = push === undefined;
      if (push === undefined) return undefined;
      return sendNotification(push, notification, key, { options, signal });
    };
    const problem = await retryDelivery(attempt, options.clock, signal);
    return isDeleted ? "deleted" : (problem ?? "delivered");
  }

  /** Only the origin is reported, because the path of a URL may be a secret. */
  async #giveUp({ config, taskId }: StoredPush, { message }: DeliveryProblem): Promise<void> {
    await this.#options.store.delete(this.#key);
    const { origin } = new URL(config.url);
    const what = `The push notifications of ${taskId} to ${origin} were ended`;
    this.#options.report(new Error(`${what}: ${message}`));
  }
}
