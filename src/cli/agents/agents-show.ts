import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import { listMissingCapabilities, readCapability } from "../../delegation/read-capability.ts";
import { EXTERNAL_AGENT_SCHEMA } from "../../wire/bridge/external-agent-contract.ts";
import { formatPrettyJson } from "../../inspect/pretty-json.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { checkUrl, withPeer, type PeerFlags } from "./peer-context.ts";

export type { PeerFlags } from "./peer-context.ts";

/** Prints the card of an agent. */
export function runAgentsShow(url: string, flags: PeerFlags, io: CommandIo): Promise<number> {
  return withPeer(flags, io, async ({ terminal, connect, signal }) => {
    checkUrl(url);
    const card = await connect(url).readCard(signal);
    await terminal.write(`${flags.json === true ? formatPrettyJson(card) : formatCard(card)}\n`);
    return 0;
  });
}

function formatCard(card: JsonValue): string {
  const fields: JsonObject = isObject(card) ? card : {};
  return [
    `${readText(fields["name"])} ${readText(fields["version"])}`.trim(),
    ...listTexts(fields["description"]).map((text) => `  ${text}`),
    ...readList(fields["supportedInterfaces"]).map(
      (entry) =>
        `  interface  ${readText(entry["protocolBinding"])} ${readText(entry["protocolVersion"])}  ${readText(entry["url"])}`,
    ),
    ...readList(fields["skills"]).map(
      (skill) => `  skill      ${readText(skill["id"])}: ${readText(skill["description"])}`,
    ),
    `  paid work  ${formatCapability(card)}`,
  ].join("\n");
}

function formatCapability(card: JsonValue): string {
  const capability = readCapability(card);
  if (capability === undefined) return `not offered (the card has no ${EXTERNAL_AGENT_SCHEMA})`;
  const missing = listMissingCapabilities(capability);
  if (missing.length > 0) return `refused: the card does not prove ${missing.join(", ")}`;
  return capability.preDispatchCheckpoint ? "plan, then dispatch" : "dispatch without a plan";
}

function readText(value: JsonValue | undefined): string {
  return typeof value === "string" ? toSingleLine(value).slice(0, 200) : "";
}

function listTexts(value: JsonValue | undefined): readonly string[] {
  const text = readText(value);
  return text === "" ? [] : [text];
}

/** At most 50 entries: a card may be hostile. */
function readList(value: JsonValue | undefined): readonly JsonObject[] {
  const entries: readonly JsonValue[] = Array.isArray(value) ? value : [];
  return entries.slice(0, 50).filter((entry): entry is JsonObject => isObject(entry));
}
