import type { Client, WorkerRow } from "../../../host/index.ts";
import { toSingleLine, type Style } from "../../../inspect/trace-style.ts";
import { formatUnknownName } from "../../../text/unknown-name.ts";
import { cutToWidth } from "../../markdown/text-width.ts";

/** A worker with its own workers. */
interface WorkerNode {
  readonly worker: WorkerRow;
  readonly workers: readonly WorkerNode[];
}

interface TreeFormat {
  readonly style: Style;
  readonly width: number;
}

/** Rows for a person, and the workers that have a position in these rows, in this order. */
export interface WorkerTree {
  readonly rows: readonly string[];
  /** The workers of the session itself. A worker of a worker belongs to another session and has no position. */
  readonly workers: readonly WorkerRow[];
}

/**
 * Formats the open workers of a session and their workers, a row each. With an id of a worker or of its session, only
 * this worker and the workers below. An unknown id gets a message with the known ids.
 */
export async function formatWorkerTree(
  client: Pick<Client, "workers">,
  { sessionId, id }: { readonly sessionId: string; readonly id: string },
  format: TreeFormat,
): Promise<WorkerTree> {
  const tree = await readTree(client, sessionId);
  const workers = tree.map(({ worker }) => worker);
  return { rows: formatTree(tree, id, format), workers };
}

function formatTree(
  tree: readonly WorkerNode[],
  id: string,
  format: TreeFormat,
): readonly string[] {
  if (id === "") {
    const rows = tree.flatMap((node, index) => formatNode(node, format, [`${index + 1}. `, 1]));
    return tree.length === 0 ? [format.style.dim("No worker is open.")] : rows;
  }
  const nodes = listNodes(tree);
  const found = nodes.find(({ worker }) => worker.workerId === id || worker.sessionId === id);
  if (found !== undefined) return formatNode(found, format);
  const names = nodes.map(({ worker }) => toSingleLine(worker.workerId));
  const fix = "/workers lists the open workers";
  const message = formatUnknownName("Worker", id, { names, where: "in this session", fix });
  return [format.style.warn(`${message}.`)];
}

/** Finds the worker which has started the worker with this id. Undefined for a worker of the session itself. */
export async function findParentWorker(
  client: Pick<Client, "workers">,
  { sessionId, id }: { readonly sessionId: string; readonly id: string },
): Promise<WorkerRow | undefined> {
  const nodes = listNodes(await readTree(client, sessionId));
  const isParent = ({ workers }: WorkerNode): boolean =>
    workers.some(({ worker }) => worker.workerId === id);
  return nodes.find(isParent)?.worker;
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

/** Formats a worker and the workers below. The label precedes the first row, and the depth indents the rows below. */
function formatNode(
  { worker, workers }: WorkerNode,
  format: TreeFormat,
  [label, depth]: readonly [label: string, depth: number] = ["", 0],
): readonly string[] {
  const { style, width } = format;
  const [name = "", status, id, session] = [
    worker.name,
    worker.status,
    worker.workerId,
    worker.sessionId,
  ].map(toSingleLine);
  const row = `${label}${style.strong(name)}  ${status}  ${id}  ${session}`;
  const below = workers.flatMap((node) =>
    formatNode(node, format, ["  ".repeat(depth + 1), depth + 1]),
  );
  return [cutToWidth(row, width), ...below];
}
