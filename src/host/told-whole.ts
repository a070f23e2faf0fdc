/**
 * Asks for something before whose answer a session is told from its beginning, and says when that begins and ends. It ends at
 * the answer, of which `ask` says when it is there: what comes right behind it is new.
 */
export async function toldWhole<Value>(
  say: (state: "begins" | "ends") => void,
  ask: (answered: () => void) => Promise<Value>,
): Promise<Value> {
  let isTold = true;
  const end = (): void => {
    if (isTold) say("ends");
    isTold = false;
  };
  say("begins");
  try {
    return await ask(end);
  } finally {
    end();
  }
}
