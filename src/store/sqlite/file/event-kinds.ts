import { isSupportedVersion, type EventVersions } from "../../../domain/events/upcast.ts";
import { StoreError } from "../../store-error.ts";
import type { Sql } from "./sql.ts";

export interface EventKind {
  readonly type: string;
  readonly version: number;
  /** True for the version written by this release. */
  readonly isCurrent: boolean;
}

/** Maps each pair of event type and version to a number. Event rows store only the number. */
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

  /**
   * Undefined if the file does not list the id. An unknown id is looked up again, because another process may have
   * added it.
   */
  findKind(id: number): EventKind | undefined {
    if (!this.#byId.has(id)) this.#load();
    return this.#byId.get(id);
  }

  /** The id for writing events of a type. Adds the type to the file if needed, so call it within a transaction. */
  resolveId(type: string): number {
    const known = this.#written.get(type);
    if (known !== undefined) return known;
    const version = this.#versions.manifest[type]?.version;
    if (version === undefined) {
      throw new StoreError("invalid_option", `${type} is not a valid event type`);
    }
    this.#sql.run("INSERT OR IGNORE INTO kinds (type, version) VALUES (?, ?)", type, version);
    this.#load();
    return this.resolveId(type);
  }

  /** Reloads all kinds. Needed after a rollback, which may have removed kinds added by the transaction. */
  reload(): void {
    this.#written.clear();
    this.#byId.clear();
    this.#load();
  }

  listIds(types: readonly string[]): readonly number[] {
    return [...this.#byId].filter(([, { type }]) => types.includes(type)).map(([id]) => id);
  }

  /** The ids of kinds which only a newer version can read. */
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
