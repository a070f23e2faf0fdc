import type { AgentCall, AgentScript, AgentTurn } from "./agent-script.ts";

/** An agent with the abilities which the compliance suite needs: it remembers, counts, and calls the client tool. */
export function suiteAgent(): AgentScript {
  const receivedTexts = new Map<string, string[]>();
  let calls = 0;
  return (call): AgentTurn => {
    const { sessionId, instructions = "", history, texts, results, tools } = call;
    const known = receivedTexts.get(sessionId) ?? [
      instructions,
      ...history.map(({ text }) => text),
    ];
    known.push(...texts);
    receivedTexts.set(sessionId, known);
    if (results.length > 0) return { says: `The tool returned: ${results.join(", ")}` };
    if (tools.includes("get_weather") && /weather/i.test(texts.join(" "))) {
      const id = `tooluse_${(calls += 1)}`;
      return { calls: [{ id, name: "get_weather", input: { location: "San Francisco" } }] };
    }
    return { says: answerTo(call, known.join("\n")) };
  };
}

function answerTo({ texts }: AgentCall, known: string): string {
  const promptText = texts.join("\n");
  if (/what is my name/i.test(promptText)) return recalled(/my name is (\w+)/i, known);
  if (/what did i ask you to remember/i.test(promptText)) return recalled(/remember (.+)/i, known);
  if (/count/i.test(promptText)) return "1, 2, 3, 4, 5";
  return "Hello to you";
}

function recalled(fact: RegExp, known: string): string {
  return `It is ${fact.exec(known)?.[1] ?? "unknown to me"}`;
}
