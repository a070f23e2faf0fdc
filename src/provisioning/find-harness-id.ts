import { createProviderError } from "../domain/provider/provider-error.ts";
import { parseHarnessId } from "../wire/agentcore/harness/deployed-tools.ts";
import { selectHarness } from "./find-by-name.ts";
import type { HarnessCache } from "./harness-cache.ts";
import type { Poll } from "./poll.ts";
import { formatUnknownName } from "../text/unknown-name.ts";

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
  const { items } = await poll.client.listHarnesses(poll.budget);
  const harness = selectHarness(items, reference);
  if (harness !== null) return harness.id;
  const where = `at ${poll.client.origin}`;
  const message = formatUnknownName("Harness", reference, {
    names: items.map(({ name }) => name),
    where,
  });
  throw createProviderError("not_found", message, { phase: "http", details: { name: reference } });
}
