import type { Actor } from "../../domain/actor.ts";
import { BRIDGE_RESTARTED } from "../../domain/live-client.ts";
import type { WatchOwner } from "../../domain/events/watch-events.ts";
import {
  readWatchRequest,
  WATCH_LIMITS,
  type FileChangeEntry,
  type WatchRequest,
} from "../../domain/outputs/file-watch.ts";
import type { CommandReply } from "../../domain/session-command.ts";
import type { Decision } from "../decision.ts";
import { refuse } from "../refuse-command.ts";
import type { Subscription } from "./watches-state.ts";

/** Adds a subscription for the sender of a command. */
export function watchFiles(
  decision: Decision,
  command: WatchRequest,
  clientId: string | undefined,
): CommandReply {
  const request = readWatchRequest(command);
  if (typeof request === "string") return refuse("validation_failed", request);
  const { subscriptions } = decision.state.watches;
  if (subscriptions.length >= WATCH_LIMITS.subscriptions) {
    const message = `The session has ${WATCH_LIMITS.subscriptions} subscriptions, the most it may have`;
    return refuse("quota_exceeded", `${message}. Fix: end one of "subscriptionIds"`, {
      subscriptionIds: subscriptions.map(({ subscriptionId }) => subscriptionId),
    });
  }
  const isAttached = decision.state.clients.attached.some((client) => client.clientId === clientId);
  const owner: WatchOwner =
    isAttached && clientId !== undefined ? { kind: "client", clientId } : { kind: "session" };
  const subscriptionId = decision.ids.next("fsw");
  addSubscription(decision, { subscriptionId, owner, ...request });
  return { status: "accepted", subscriptionId };
}

/** Adds a subscription of the agent. `findEmissionProblem` has accepted the subscription. */
export function addAgentWatch(
  decision: Decision,
  subscriptionId: string,
  request: WatchRequest,
): void {
  addSubscription(decision, { subscriptionId, owner: { kind: "agent" }, ...request });
}

function addSubscription(decision: Decision, watch: Omit<Subscription, "expiresAt">): void {
  const { subscriptionId, owner, paths, globs } = watch;
  const expiresAt = decision.at + WATCH_LIMITS.ttlMs;
  decision.emit({ type: "watch.added", subscriptionId, owner, paths, globs, expiresAt });
}

/** The sender of a command to end a subscription. `mayControl`: whether the sender may end those of other clients. */
interface UnwatchSender {
  readonly actor: Actor;
  readonly mayControl: boolean;
}

/** Ends a subscription of the sender, of the agent or of the session. */
export function unwatchFiles(
  decision: Decision,
  subscriptionId: string,
  { actor, mayControl }: UnwatchSender,
): CommandReply {
  const subscription = findSubscription(decision, subscriptionId);
  if (subscription === undefined)
    return refuse("not_found", "The session has no subscription with this id");
  const { owner } = subscription;
  if (owner.kind === "client" && owner.clientId !== actor.clientId && !mayControl) {
    const message = "The subscription belongs to another client";
    return refuse(
      "access_denied",
      `${message}. Fix: take over the session to end the subscription`,
    );
  }
  decision.emit({ type: "watch.removed", subscriptionId, reason: "requested" });
  return { status: "accepted", subscriptionId };
}

/** Removes a subscription for the agent. A client's subscription stays. */
export function removeAgentWatch(decision: Decision, subscriptionId: string): void {
  if (findSubscription(decision, subscriptionId)?.owner.kind !== "agent") return;
  decision.emit({ type: "watch.removed", subscriptionId, reason: "requested" });
}

/** Removes the subscriptions of a client which has detached. After a restart of the bridge the client may return. */
export function removeClientWatches(decision: Decision, clientId: string, reason: string): void {
  if (reason === BRIDGE_RESTARTED) return;
  for (const { subscriptionId, owner } of decision.state.watches.subscriptions) {
    if (owner.kind === "client" && owner.clientId === clientId)
      decision.emit({ type: "watch.removed", subscriptionId, reason: "detached" });
  }
}

export function expireWatches(decision: Decision): void {
  for (const { subscriptionId, expiresAt } of decision.state.watches.subscriptions) {
    if (expiresAt <= decision.at)
      decision.emit({ type: "watch.removed", subscriptionId, reason: "expired" });
  }
}

/** Records changes, and returns their subscription. Undefined if the subscription has ended. */
export function recordFileChanges(
  decision: Decision,
  subscriptionId: string,
  entries: readonly FileChangeEntry[],
): Subscription | undefined {
  const subscription = findSubscription(decision, subscriptionId);
  if (subscription === undefined || entries.length === 0) return undefined;
  decision.emit({ type: "files.changed", subscriptionId, entries });
  return subscription;
}

function findSubscription({ state }: Decision, id: string): Subscription | undefined {
  return state.watches.subscriptions.find(({ subscriptionId }) => subscriptionId === id);
}
