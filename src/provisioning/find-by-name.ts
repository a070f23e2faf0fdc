import type { Harness } from "../wire/agentcore/control/control-response.ts";
import { resolveReadiness } from "../wire/agentcore/control/readiness.ts";
import type { Poll } from "./poll.ts";

/** Looks through all pages of the list. Null when there is none. */
export async function findHarnessByName(
  name: string,
  { client, budget }: Pick<Poll, "client" | "budget">,
): Promise<Harness | null> {
  const { items } = await client.listHarnesses(budget);
  const twins = items.filter((harness) => harness.name === name);
  // Of two with one name, the one that is being deleted is the older.
  return twins.find(({ status }) => resolveReadiness(status) !== "deleting") ?? twins[0] ?? null;
}
