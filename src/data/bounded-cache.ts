/**
 * A cache by name with a limit on the total weight. The oldest values are evicted first; the newest value always stays.
 */
export class BoundedCache<Value> {
  readonly #most: number;
  readonly #kept = new Map<string, { readonly value: Value; readonly weight: number }>();
  #weight = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(name: string): Value | undefined {
    return this.#kept.get(name)?.value;
  }

  set(name: string, value: Value, weight: number): void {
    this.#drop(name);
    this.#kept.set(name, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#kept.keys()) {
      if (this.#weight <= this.#most || this.#kept.size === 1) return;
      this.#drop(oldest);
    }
  }

  clear(): void {
    this.#kept.clear();
    this.#weight = 0;
  }

  #drop(name: string): void {
    this.#weight -= this.#kept.get(name)?.weight ?? 0;
    this.#kept.delete(name);
  }
}
