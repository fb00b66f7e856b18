/** `GET /v1/host/cairn/calibration`: continues reading the log where the tenant's last request stopped. */
import { setImmediate as othersGoOn } from 'node:timers/promises';
import { type Calibration, calibration, type JsonObject } from '@cairn/protocol';
import { CalibrationFold, calibrationTypes } from '../../agents/calibration.ts';
import type { ChangeLog } from '../../log/ports/changes.ts';
import { LruMap } from '../../lru-map.ts';
import type { Route } from '../http/routes.ts';

/** Rows per page; between pages a request yields to others. */
const PAGE = 2_000;
const PAGE_BYTES = 524_288;
/** Pages per request: about a second of work on a long log. */
const MAX_PAGES = 100;
/** Tenants whose figures are cached; for others the count restarts from the beginning. */
const MAX_TENANTS = 256;

interface TenantFigures {
  readonly fold: CalibrationFold;
  position: string;
  isComplete: boolean;
  reading: Promise<void> | null;
}

export class CalibrationReader {
  readonly #changes: Pick<ChangeLog, 'read'>;
  readonly #tenants = new LruMap<string, TenantFigures>(MAX_TENANTS);

  constructor(changes: Pick<ChangeLog, 'read'>) {
    this.#changes = changes;
  }

  async read(tenant: string): Promise<Calibration> {
    const figures = this.#figuresOf(tenant);
    // Concurrent requests share one read.
    figures.reading ??= this.#readOn(figures, tenant).finally(() => {
      figures.reading = null;
    });
    await figures.reading;
    return { agents: figures.fold.agents(), complete: figures.isComplete };
  }

  #figuresOf(tenant: string): TenantFigures {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    return this.#tenants.set(tenant, { fold: new CalibrationFold(), position: '0', isComplete: false, reading: null });
  }

  async #readOn(figures: TenantFigures, tenant: string): Promise<void> {
    const filter = { tenant, types: calibrationTypes };
    for (let page = 0; page < MAX_PAGES; page++) {
      const { rows, position } = await this.#changes.read({
        after: figures.position,
        limit: PAGE,
        maxBytes: PAGE_BYTES,
        filter,
      });
      for (const { runId, type, payload } of rows) {
        figures.fold.take({ runId, type, payload: JSON.parse(payload) as JsonObject });
      }
      figures.isComplete = position === figures.position;
      if (figures.isComplete) return;
      figures.position = position;
      await othersGoOn();
    }
  }
}

export const calibrationRoutes = (reader: CalibrationReader): readonly Route[] => [
  {
    method: 'GET',
    path: '/v1/host/cairn/calibration',
    scope: 'runs:read',
    handle: async ({ caller }) => JSON.stringify(await reader.read(caller.tenant)),
    doc: {
      id: 'getCalibration',
      summary: 'How sure agents said they were, against what people said of their decisions',
      responses: { 200: { description: 'By agent and by stated confidence.', shape: calibration } },
    },
  },
];
