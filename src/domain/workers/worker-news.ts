import type { Worker } from "./worker.ts";

/** The body of the reminder with the end of a worker's cycle, which no tool call waits for. */
export function formatWorkerNews(worker: Pick<Worker, "workerId" | "name">, text: string): string {
  return `${formatHeading(worker)}${text}`;
}

/** The text of such a reminder. Undefined for any other reminder. */
export function readWorkerNews(
  worker: Pick<Worker, "workerId" | "name">,
  body: string,
): string | undefined {
  const heading = formatHeading(worker);
  return body.startsWith(heading) ? body.slice(heading.length) : undefined;
}

function formatHeading({ workerId, name }: Pick<Worker, "workerId" | "name">): string {
  return `News of the worker ${JSON.stringify(name)} (${workerId}): `;
}
