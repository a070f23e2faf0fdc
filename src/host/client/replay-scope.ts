/**
 * Asks for something before whose answer a session is told from its beginning, and says when that begins and ends. It ends at
 * the answer, of which `ask` says when it is there: what comes right behind it is new.
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
