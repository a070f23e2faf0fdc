import type { Client, WorkerRow } from "../../host/index.ts";
import { toSingleLine, type Style } from "../../inspect/trace-style.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";
import { cutToWidth } from "../markdown/text-width.ts";

/** A worker with its own workers. */
interface WorkerNode {
  readonly worker: WorkerRow;
  readonly workers: readonly WorkerNode[];
}

interface TreeFormat {
  readonly style: Style;
  readonly width: number;
}

/**
 * Formats the open workers of a session and their workers, a row each. With an id of a worker or of its session, only
 * this worker and the workers below. An unknown id gets a message with the known ids.
 */
export async function formatWorkerTree(
  client: Pick<Client, "workers">,
  { sessionId, id }: { readonly sessionId: string; readonly id: string },
  format: TreeFormat,
): Promise<readonly string[]> {
  const tree = await readTree(client, sessionId);
  if (id === "") {
    const isEmpty = tree.length === 0;
    return isEmpty ? [format.style.dim("No worker is open.")] : formatNodes(tree, format, 0);
  }
  const nodes = listNodes(tree);
  const found = nodes.find(({ worker }) => worker.workerId === id || worker.sessionId === id);
  if (found !== undefined) return formatNodes([found], format, 0);
  const names = nodes.map(({ worker }) => toSingleLine(worker.workerId));
  const fix = "/workers lists the open workers";
  const message = formatUnknownName("Worker", id, { names, where: "in this session", fix });
  return [format.style.warn(`${message}.`)];
}

async function readTree(
  client: Pick<Client, "workers">,
  sessionId: string,
): Promise<readonly WorkerNode[]> {
  const nodes: WorkerNode[] = [];
  for (const worker of await client.workers(sessionId)) {
    // The session of a worker exists shortly after the worker, and may be deleted at any time.
    const workers = await readTree(client, worker.sessionId).catch(() => []);
    nodes.push({ worker, workers });
  }
  return nodes;
}

function listNodes(tree: readonly WorkerNode[]): readonly WorkerNode[] {
  return tree.flatMap((node) => [node, ...listNodes(node.workers)]);
}

function formatNodes(
  nodes: readonly WorkerNode[],
  format: TreeFormat,
  depth: number,
): readonly string[] {
  const { style, width } = format;
  return nodes.flatMap(({ worker, workers }) => {
    const [name, status, id, session] = [
      worker.name,
      worker.status,
      worker.workerId,
      worker.sessionId,
    ].map(toSingleLine);
    const row = `${"  ".repeat(depth)}${style.strong(name ?? "")}  ${status}  ${id}  ${session}`;
    return [cutToWidth(row, width), ...formatNodes(workers, format, depth + 1)];
  });
}
