/** The extension with a cursor: `sequence` in the metadata of tasks and updates, `id` in event streams. */
export const CURSOR_EXTENSION = "urn:spanline:a2a:cursor:v1";

/** The key of an update's position in the log. */
export const SEQUENCE_KEY = `${CURSOR_EXTENSION}/sequence`;

/** The extension with the bridge protocol's own stream entries: `worker_update`, `harn_plan` and `status`. */
export const TASK_STREAM_EXTENSION = "urn:harn:a2a:task-stream:v1";

/** Metadata keys of the same entries for clients that did not ask for the extension. */
export const WORKER_UPDATE_KEY = `${TASK_STREAM_EXTENSION}/worker_update`;
export const PLAN_KEY = `${TASK_STREAM_EXTENSION}/harn_plan`;

/** Reads the extensions that a client activates with the header `A2A-Extensions`. */
export function readExtensions(header: string | undefined): ReadonlySet<string> {
  return new Set((header ?? "").split(",").map((uri) => uri.trim()));
}
