/** Saves the newest state of something that changes faster than it can be saved: one save at a time, and never an older one last. */
export class LatestSaver {
  readonly #save: () => Promise<void>;
  readonly #failed: (error: unknown) => void;
  #isDirty = false;
  #saving: Promise<void> | null = null;

  /** `save` reads the state when it is called. A save that failed is made good by the next request. */
  constructor(save: () => Promise<void>, failed: (error: unknown) => void) {
    this.#save = save;
    this.#failed = failed;
  }

  request(): void {
    this.#isDirty = true;
    this.#saving ??= this.#run().finally(() => {
      this.#saving = null;
    });
  }

  /** Resolves once nothing that was requested is left to save. */
  async settled(): Promise<void> {
    await this.#saving;
  }

  async #run(): Promise<void> {
    while (this.#isDirty) {
      this.#isDirty = false;
      try {
        await this.#save();
      } catch (error) {
        this.#failed(error);
        return;
      }
    }
  }
}
