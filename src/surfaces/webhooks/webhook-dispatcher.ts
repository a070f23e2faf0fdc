import { pause } from "../../async/pause.ts";
import { isObject, type JsonValue } from "../../data/json.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { WEBHOOK_EVENTS, type WebhookEvent } from "../../domain/webhook-events.ts";
import { digestText } from "../../platform/digest.ts";
import type { Sessions } from "../../session/sessions.ts";
import type { InboxEntry, InboxIndex, InboxView } from "../portal/live/inbox-index.ts";
import { deliverWebhook, type DeliveryContext, type Webhook } from "./webhook-delivery.ts";
import { createSubject, encodeWebhookBody, type WebhookSubject } from "./webhook-message.ts";

export interface DispatcherOptions extends DeliveryContext {
  readonly webhooks: readonly Webhook[];
  readonly sessions: Pick<
    Sessions,
    "status" | "listRecords" | "putRecord" | "deleteRecord" | "readRecord"
  >;
  readonly inbox: InboxIndex;
  /** Address of the portal, for the links. */
  readonly publicUrl: string;
}

const SCOPE = "webhook";
const RECORD_MS = 30 * 86_400_000;
/** Requests whose messages are being delivered, for each webhook. Further requests wait for the next change. */
const MAX_OPEN_DELIVERIES = 1000;
const RETRY_MS = 5000;

/**
 * Sends a message to each webhook when a request to people is opened, and when it is resolved, until the signal aborts.
 * A record per request survives a restart, so each message is delivered at least once.
 */
export async function runWebhooks(options: DispatcherOptions): Promise<void> {
  const { webhooks, signal, clock, report } = options;
  if (webhooks.length === 0) return;
  const runs = webhooks.map((webhook) => new WebhookRun(webhook, options));
  while (!signal.aborted) {
    try {
      for (const run of runs) await run.load();
      for await (const view of options.inbox.watch(signal))
        await Promise.all(runs.map((run) => run.apply(view)));
    } catch (error) {
      if (!signal.aborted) report(error);
    }
    await pause(clock, RETRY_MS, signal).catch(() => undefined);
  }
}

/** A request known to the receiver, or about to be. */
interface SentRequest {
  readonly recordKey: string;
  readonly subject: WebhookSubject;
  /** The deliveries in their order. Never rejects. */
  deliveries: Promise<void>;
  isResolving: boolean;
}

/** The messages of one webhook. */
class WebhookRun {
  readonly #webhook: Webhook;
  readonly #options: DispatcherOptions;
  readonly #prefix: string;
  readonly #requests = new Map<string, SentRequest>();

  constructor(webhook: Webhook, options: DispatcherOptions) {
    this.#webhook = webhook;
    this.#options = options;
    this.#prefix = `${digestText(webhook.url).slice(0, 32)}/`;
  }

  /** Reads the requests which an earlier process has announced, or was announcing when it ended. */
  async load(): Promise<void> {
    let afterKey = this.#prefix;
    for (;;) {
      const page = await this.#options.sessions.listRecords({ scope: SCOPE, afterKey, limit: 200 });
      for (const { key, value } of page.records) {
        if (!key.startsWith(this.#prefix)) return;
        const stored = readStored(value);
        if (stored === undefined || this.#requests.has(stored.key)) continue;
        const request = this.#add(stored.key, key, stored.subject);
        if (!stored.isAnnounced) this.#announce(request);
      }
      if (page.nextKey === undefined) return;
      afterKey = page.nextKey;
    }
  }

  async apply({ entries }: InboxView): Promise<void> {
    const open = new Set(entries.map(({ key }) => key));
    for (const entry of entries) if (!this.#requests.has(entry.key)) await this.#open(entry);
    for (const [key, request] of this.#requests) {
      if (open.has(key) || request.isResolving || (await this.#isOpen(request.subject))) continue;
      this.#resolve(key, request);
    }
  }

  async #open(entry: InboxEntry): Promise<void> {
    if (this.#requests.size >= MAX_OPEN_DELIVERIES) return;
    const recordKey = `${this.#prefix}${digestText(entry.key).slice(0, 32)}`;
    const subject = createSubject(entry.item, this.#webhook.details === true);
    const { sessions } = this.#options;
    const record = { ...this.#createRecord(entry.key, subject, false), expectedVersion: null };
    const { status } = await sessions.putRecord(SCOPE, recordKey, record);
    // Another process of the same data directory sends this request.
    if (status === "conflict") return;
    this.#announce(this.#add(entry.key, recordKey, subject));
  }

  #createRecord(key: string, subject: WebhookSubject, isAnnounced: boolean) {
    const value = { key, isAnnounced, subject: { ...subject } };
    return { value, expiresAt: this.#options.clock.now() + RECORD_MS };
  }

  #add(key: string, recordKey: string, subject: WebhookSubject): SentRequest {
    const deliveries = Promise.resolve();
    const request = { recordKey, subject, deliveries, isResolving: false };
    this.#requests.set(key, request);
    return request;
  }

  #announce(request: SentRequest): void {
    this.#enqueue(request, async () => {
      await this.#send("request.opened", request);
      const key = formatKey(request.subject);
      const record = this.#createRecord(key, request.subject, true);
      await this.#options.sessions.putRecord(SCOPE, request.recordKey, record);
    });
  }

  #resolve(key: string, request: SentRequest): void {
    request.isResolving = true;
    this.#enqueue(request, async () => {
      await this.#send("request.resolved", request);
      await this.#options.sessions.deleteRecord(SCOPE, request.recordKey);
      this.#requests.delete(key);
    });
  }

  /** After an error of the store, the record makes a later process repeat the delivery. */
  #enqueue(request: SentRequest, work: () => Promise<void>): void {
    const { signal, report } = this.#options;
    request.deliveries = request.deliveries.then(work).catch((error: unknown) => {
      if (!signal.aborted) report(error);
    });
  }

  async #send(event: WebhookEvent, { subject, recordKey }: SentRequest): Promise<void> {
    const { events = WEBHOOK_EVENTS } = this.#webhook;
    if (!events.includes(event)) return;
    const id = `whk_${digestText(`${recordKey}/${event}`).slice(0, 26)}`;
    const { publicUrl } = this.#options;
    const body = encodeWebhookBody({ id, event, publicUrl }, subject);
    await deliverWebhook(this.#webhook, { id, event, body }, this.#options);
  }

  /** The inbox is limited, so a request that is not in it may be open. */
  async #isOpen({ sessionId, approvalId }: WebhookSubject): Promise<boolean> {
    try {
      const { openApprovals } = await this.#options.sessions.status(sessionId);
      return openApprovals.some(({ request }) => request.approvalId === approvalId);
    } catch (error) {
      return !(error instanceof SpanlineError && error.code === "not_found");
    }
  }
}

function formatKey({ sessionId, approvalId }: WebhookSubject): string {
  return `${sessionId}/${approvalId}`;
}

interface StoredRequest {
  readonly key: string;
  readonly isAnnounced: boolean;
  readonly subject: WebhookSubject;
}

/** The records of this scope are written by this module only. Undefined for a record of another version. */
function readStored(value: JsonValue): StoredRequest | undefined {
  if (!isObject(value)) return undefined;
  const { key, isAnnounced, subject } = value;
  if (typeof key !== "string" || !isSubject(subject)) return undefined;
  return { key, isAnnounced: isAnnounced === true, subject };
}

function isSubject(value: unknown): value is WebhookSubject {
  if (!isObject(value)) return false;
  const { requestedAt, deadline } = value;
  const names = ["sessionId", "approvalId", "agent", "principal", "question", "sentence"];
  return (
    names.every((name) => typeof value[name] === "string") &&
    typeof requestedAt === "number" &&
    typeof deadline === "number"
  );
}
