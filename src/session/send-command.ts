import type { Principal } from "../domain/actor.ts";
import type { PromptPart } from "../domain/agent-event.ts";
import type { CommandReply, SessionCommand } from "../domain/session-command.ts";
import type { Store } from "../store/store.ts";
import type { Driver } from "./driver.ts";
import { findPrompt } from "./find-prompt.ts";
import { keepImages } from "./keep-images.ts";
import { refused } from "./refused.ts";
import type { SessionReaders } from "./session-readers.ts";
import type { Sender } from "./sessions.ts";
import { imageHandling } from "./turn-options.ts";

export interface CommandWork {
  readonly sessionId: string;
  readonly store: Store;
  readonly driver: Driver;
  readonly readers: SessionReaders;
}

/** Brings a command to its session, with what deciding about it takes and the state does not have. */
export async function sendCommand(
  wanted: SessionCommand,
  from: Sender,
  { sessionId, store, driver, readers }: CommandWork,
): Promise<CommandReply> {
  const { principal } = from;
  const place = { store, sessionId };
  const refusal = wanted.type === "forget" && (await notToForget(wanted, principal, place));
  if (refusal) return refusal;
  const facts = driver.state.agent?.facts;
  const takesImages = facts !== undefined && imageHandling(facts) !== "reject";
  const kept = await keepImages(wanted, {
    isWanted: takesImages && principal.rights.includes("prompt"),
    putBlob: (blobId, bytes) => store.putBlob(sessionId, blobId, bytes),
  });
  if ("reply" in kept) return kept.reply;
  const counted = wanted.type === "cancel" ? { readers: readers.count(sessionId) } : {};
  const commanded = { ...commanding(kept.command, from), ...counted };
  const reply = await driver.send(commanded, commandKey(from));
  if (reply === undefined) throw new Error(`The command ${wanted.type} got no reply`);
  return reply;
}

/** What one said oneself needs no right over others. */
async function notToForget(
  { promptId }: { readonly promptId: string },
  { id, rights }: Principal,
  { store, sessionId }: Pick<CommandWork, "store" | "sessionId">,
): Promise<CommandReply | undefined> {
  const found = await findPrompt(store, sessionId, promptId);
  if (found === undefined) {
    return refused("not_found", `There is no prompt ${promptId} in this session`);
  }
  if (found.actor?.principal === id || rights.includes("control")) return undefined;
  return refused("access_denied", "This prompt is another's; it needs the right to control");
}

export function commanding(
  command: SessionCommand<PromptPart>,
  { principal, clientId, attachmentId, commandId }: Sender,
) {
  const { id, rights } = principal;
  const client = clientId === undefined ? {} : { clientId };
  const by = { kind: "user", principal: id, ...client } as const;
  const stay = attachmentId === undefined ? {} : { attachmentId };
  const named = commandId === undefined ? {} : { commandId };
  return { type: "commanded", command, by, rights, ...stay, ...named } as const;
}

/** One sender's names for its commands are nobody else's. */
export function commandKey({ principal, commandId }: Sender): string | undefined {
  return commandId === undefined ? undefined : `${principal.id}/${commandId}`;
}
