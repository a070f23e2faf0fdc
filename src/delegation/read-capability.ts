import { isObject } from "../data/json.ts";
import {
  DISPATCH_METHOD,
  EXTERNAL_AGENT_SCHEMA,
  PLAN_METHOD,
} from "../wire/bridge/external-agent-contract.ts";
import type { ExternalCapability } from "./external-agent.ts";

type Fields = { readonly [key: string]: unknown };

/**
 * Reads the external-agent capability of an agent card, from the first of its three places. Undefined if the card has
 * none, or a capability of another schema.
 */
export function readCapability(card: unknown): ExternalCapability | undefined {
  if (!isObject(card)) return undefined;
  const capabilities = readFields(card["capabilities"]);
  const places = [
    capabilities["externalAgent"],
    readFields(readFields(capabilities["_meta"])["harn"])["externalAgent"],
    readFields(readFields(card["_meta"])["harn"])["externalAgent"],
  ];
  const found = places.find(isObject);
  if (found === undefined || found["schema"] !== EXTERNAL_AGENT_SCHEMA) return undefined;
  const operations = Array.isArray(found["operations"]) ? found["operations"] : [];
  const has = (name: string, alias: string): boolean =>
    found[name] === true || found[alias] === true;
  return {
    // An advertised operation proves its own support.
    preDispatchCheckpoint:
      has("pre_dispatch_checkpoint", "preDispatchCheckpoint") || operations.includes(PLAN_METHOD),
    budgetCap: has("budget_cap", "budgetCap"),
    idempotency: has("idempotency", "idempotent"),
    reviewableHandoff: has("reviewable_handoff", "reviewableHandoff"),
    dispatch: found["dispatch"] === true || operations.includes(DISPATCH_METHOD),
  };
}

function readFields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** Names the capabilities without which no paid work starts. Empty if the card proves all. */
export function listMissingCapabilities(capability: ExternalCapability): readonly string[] {
  const required = {
    budget_cap: capability.budgetCap,
    idempotency: capability.idempotency,
    reviewable_handoff: capability.reviewableHandoff,
    dispatch: capability.dispatch,
  };
  return Object.entries(required).flatMap(([name, isProven]) => (isProven ? [] : [name]));
}
