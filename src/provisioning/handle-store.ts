import type { HarnessHandle } from "./harness-handle.ts";

/** Stores harness handles and tags, optionally beyond the process. */
export interface HandleStore {
  getHandle(key: string): Promise<HarnessHandle | null>;
  putHandle(key: string, handle: HarnessHandle): Promise<void>;
  deleteHandle(key: string): Promise<void>;
  /** The digest currently assigned to a tag. Null if the tag is unknown. */
  getTag(tag: string): Promise<string | null>;
  putTag(tag: string, digest: string): Promise<void>;
  deleteTag(tag: string): Promise<void>;
  /** All tags with this prefix. */
  listTags(start: string): Promise<ReadonlyMap<string, string>>;
}

/** A store for the lifetime of the process. */
export function createMemoryHandleStore(): HandleStore {
  const handles = new Map<string, HarnessHandle>();
  const tags = new Map<string, string>();
  return {
    getHandle: async (key) => handles.get(key) ?? null,
    putHandle: async (key, handle) => void handles.set(key, handle),
    deleteHandle: async (key) => void handles.delete(key),
    getTag: async (tag) => tags.get(tag) ?? null,
    putTag: async (tag, digest) => void tags.set(tag, digest),
    deleteTag: async (tag) => void tags.delete(tag),
    listTags: async (start) => new Map([...tags].filter(([tag]) => tag.startsWith(start))),
  };
}
