import type { Harness } from "../wire/agentcore/control/control-response.ts";
import { resolveReadiness } from "../wire/agentcore/control/readiness.ts";
import type { Poll } from "./poll.ts";

/** Searches all pages of the list. Null if no harness has this name. */
export async function findHarnessByName(
  name: string,
  { client, budget }: Pick<Poll, "client" | "budget">,
): Promise<Harness | null> {
  const { items } = await client.listHarnesses(budget);
  return selectHarness(items, name);
}

export function selectHarness(harnesses: readonly Harness[], name: string): Harness | null {
  const twins = harnesses.filter((harness) => harness.name === name);
  // If two harnesses share a name, the older one is being deleted.
  return twins.find(({ status }) => resolveReadiness(status) !== "deleting") ?? twins[0] ?? null;
}
