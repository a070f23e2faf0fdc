/**
 * Sends a request during which the agent replays a session's history, and reports the begin and end of the replay.
 * `send` calls its argument when the response arrives: updates right after the response are already live.
 */
export async function runInReplayScope<Value>(
  onState: (state: "begins" | "ends") => void,
  send: (answered: () => void) => Promise<Value>,
): Promise<Value> {
  let isReplaying = true;
  const end = (): void => {
    if (isReplaying) onState("ends");
    isReplaying = false;
  };
  onState("begins");
  try {
    return await send(end);
  } finally {
    end();
  }
}
