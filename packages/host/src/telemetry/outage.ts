/** Reports a collector outage once when it begins and once when it ends, however many sends fail in between. */
import type { Report } from '../engine/ports.ts';

/** The signal and the endpoint that the reports name. */
export interface ExportRoute {
  readonly signal: 'spans' | 'metrics';
  readonly endpoint: string;
}

export class Outage {
  readonly #route: ExportRoute;
  readonly #report: Report;
  #on = false;

  constructor(route: ExportRoute, report: Report) {
    this.#route = route;
    this.#report = report;
  }

  get isOn(): boolean {
    return this.#on;
  }

  begin(error: unknown): void {
    if (this.#on) return;
    this.#on = true;
    // Only the text: a collector's error may include its request, which holds the export credentials.
    const reason = error instanceof Error ? error.message || error.name : String(error);
    this.#report({ level: 'warn', event: 'telemetry.export_failed', facts: { ...this.#route, reason } });
  }

  end(): void {
    if (!this.#on) return;
    this.#on = false;
    this.#report({ level: 'info', event: 'telemetry.export_recovered', facts: { ...this.#route } });
  }
}
