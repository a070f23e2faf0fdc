import type { Harness } from "../wire/agentcore/control-answer.ts";
import { readinessOf } from "../wire/agentcore/control-status.ts";
import type { Waiting } from "./waiting.ts";

/** Looks through all pages of the list. Null when there is none. */
export async function findByName(
  name: string,
  { client, budget }: Pick<Waiting, "client" | "budget">,
): Promise<Harness | null> {
  const { items } = await client.listHarnesses(budget);
  const twins = items.filter((harness) => harness.name === name);
  // Of two with one name, the one that is being deleted is the older.
  return twins.find(({ status }) => readinessOf(status) !== "deleting") ?? twins[0] ?? null;
}
