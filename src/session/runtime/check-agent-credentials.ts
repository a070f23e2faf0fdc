import { waitWithTimeout } from "../../async/pause.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Agent } from "./agent/agent.ts";

/** Rejects where an agent has no credentials. What takes long to find out, or is something else, the next turn will tell. */
export async function checkAgentCredentials(
  { provider }: Pick<Agent, "provider">,
  clock: Clock,
): Promise<void> {
  const looking = provider.checkCredentials?.();
  if (looking === undefined) return;
  const found = looking.catch((error: unknown) => {
    if (error instanceof SpanlineError && error.code === "no_credentials") throw error;
  });
  await waitWithTimeout(clock, MAX_WAIT_MS, found);
}

/** Nobody waits longer for a session to be set up than it takes to load what looks for credentials. */
const MAX_WAIT_MS = 3000;
