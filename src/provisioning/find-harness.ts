import { providerError } from "../domain/provider-error.ts";
import { harnessIdOf } from "../wire/agentcore/deployed-tools.ts";
import { findByName } from "./find-by-name.ts";
import type { HarnessCache } from "./harness-cache.ts";
import type { Waiting } from "./waiting.ts";

/** The id of what people call a harness: an ARN, an id, `base:tag` or a name. */
export async function findHarnessId(
  reference: string,
  waiting: Pick<Waiting, "client" | "budget">,
  cache: () => Promise<HarnessCache>,
): Promise<string> {
  if (reference.startsWith("arn:")) return harnessIdOf(reference);
  if (reference.includes(":")) return (await (await cache()).resolve(reference)).id;
  if (/-[a-zA-Z0-9]{10}$/.test(reference)) return reference;
  const found = await findByName(reference, waiting);
  if (found !== null) return found.id;
  const message = `There is no harness named ${reference} at ${waiting.client.origin}`;
  throw providerError("not_found", message, { phase: "http", details: { name: reference } });
}
