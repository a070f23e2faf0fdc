import { useState } from "react";
import type { LiveError } from "../../wire/live/live-frames.ts";
import type { ActionResult } from "../state/session-actions.ts";

/** Commands of a view which are on their way, and the last error. */
export interface Commands {
  readonly isPending: (name: string) => boolean;
  readonly error: LiveError | null;
  /** Resolves with whether the command succeeded. */
  readonly run: (name: string, send: () => Promise<ActionResult>) => Promise<boolean>;
  readonly clearError: () => void;
}

/** Runs commands. An error leaves with the next command, and when the connection returns. */
export function useCommands(isConnected: boolean): Commands {
  const [pending, setPending] = useState<readonly string[]>([]);
  const [error, setError] = useState<LiveError | null>(null);
  const [wasConnected, setWasConnected] = useState(isConnected);
  if (wasConnected !== isConnected) {
    setWasConnected(isConnected);
    if (isConnected) setError(null);
  }
  const run: Commands["run"] = async (name, send) => {
    setPending((present) => [...present, name]);
    setError(null);
    const result = await attempt(send);
    setPending((present) => present.filter((one) => one !== name));
    if (!result.ok) setError(result.error);
    return result.ok;
  };
  return {
    isPending: (name) => pending.includes(name),
    error,
    run,
    clearError: () => setError(null),
  };
}

async function attempt(send: () => Promise<ActionResult>): Promise<ActionResult> {
  try {
    return await send();
  } catch (error) {
    const message = error instanceof Error ? error.message : "The command was not sent";
    return { ok: false, error: { code: "not_sent", message } };
  }
}
