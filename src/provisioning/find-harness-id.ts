import { createProviderError } from "../domain/provider/provider-error.ts";
import { parseHarnessId } from "../wire/agentcore/harness/deployed-tools.ts";
import { findHarnessByName } from "./find-by-name.ts";
import type { HarnessCache } from "./harness-cache.ts";
import type { Poll } from "./poll.ts";

/**
 * Resolves a user's reference to a harness id: an ARN, an id, `base:tag` or a name. Throws `not_found` if a name is
 * unknown.
 */
export async function findHarnessId(
  reference: string,
  poll: Pick<Poll, "client" | "budget">,
  cache: () => Promise<HarnessCache>,
): Promise<string> {
  if (reference.startsWith("arn:")) return parseHarnessId(reference);
  if (reference.includes(":")) return (await (await cache()).resolveTag(reference)).id;
  if (/-[a-zA-Z0-9]{10}$/.test(reference)) return reference;
  const harness = await findHarnessByName(reference, poll);
  if (harness !== null) return harness.id;
  const message = `Harness not found: ${reference} at ${poll.client.origin}`;
  throw createProviderError("not_found", message, { phase: "http", details: { name: reference } });
}
