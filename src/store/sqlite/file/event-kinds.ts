import { isSupportedVersion, type EventVersions } from "../../../domain/events/upcast.ts";
import { StoreError } from "../../store-error.ts";
import type { Sql } from "./sql.ts";

export interface EventKind {
  readonly type: string;
  readonly version: number;
  /** Of the version that is written now. */
  readonly isCurrent: boolean;
}

/** Types and versions of events, which rows name by a number. */
export class EventKinds {
  readonly #sql: Sql;
  readonly #versions: EventVersions;
  readonly #byId = new Map<number, EventKind>();
  readonly #written = new Map<string, number>();

  constructor(sql: Sql, versions: EventVersions) {
    this.#sql = sql;
    this.#versions = versions;
    this.#load();
  }

  /** Undefined when the file does not say; another process may have added one since we looked. */
  findKind(id: number): EventKind | undefined {
    if (!this.#byId.has(id)) this.#load();
    return this.#byId.get(id);
  }

  /** The number under which events of a type are written, within a transaction. */
  resolveId(type: string): number {
    const known = this.#written.get(type);
    if (known !== undefined) return known;
    const version = this.#versions.manifest[type]?.version;
    if (version === undefined) {
      throw new StoreError("invalid_option", `There are no events of type ${type}`);
    }
    this.#sql.run("INSERT OR IGNORE INTO kinds (type, version) VALUES (?, ?)", type, version);
    this.#load();
    return this.resolveId(type);
  }

  /** A transaction that was rolled back may have taken kinds with it. */
  reload(): void {
    this.#written.clear();
    this.#byId.clear();
    this.#load();
  }

  listIds(types: readonly string[]): readonly number[] {
    return [...this.#byId].filter(([, { type }]) => types.includes(type)).map(([id]) => id);
  }

  /** Those that only a newer version understands. */
  get newer(): readonly number[] {
    return [...this.#byId]
      .filter(([, kind]) => !isSupportedVersion(kind, this.#versions))
      .map(([id]) => id);
  }

  #load(): void {
    for (const row of this.#sql.all("SELECT id, type, version FROM kinds")) {
      const [id, type, version] = [row.number("id"), row.text("type"), row.number("version")];
      const { manifest } = this.#versions;
      const isCurrent = Object.hasOwn(manifest, type) && manifest[type]?.version === version;
      this.#byId.set(id, { type, version, isCurrent });
      if (isCurrent) this.#written.set(type, id);
    }
  }
}
