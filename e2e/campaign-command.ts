/**
 * Runs a campaign as a command: parses the count and the seed, prints progress and the report, and sets the exit code.
 */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type StoreKind, storeKind } from './campaign-store.ts';

export interface CampaignOptions {
  readonly times: number;
  readonly store: StoreKind;
  readonly seed: string;
  readonly progress: (text: string) => void;
}

export interface CampaignCommand {
  readonly usage: string;
  /** The option that sets the count. `usually` is its default. */
  readonly option: string;
  readonly usually: number;
  /** Whether it takes `--store`. */
  readonly hasStores?: true;
  run(options: CampaignOptions): Promise<{ readonly breaches: readonly unknown[]; readonly folder: string | null }>;
}

/** Returns the exit code: 0 when every guarantee held, 1 when one was broken, 2 for wrong usage. */
export async function campaignCommand({ usage, option, usually, hasStores, run }: CampaignCommand): Promise<number> {
  let times: number;
  let seed: string;
  let store: StoreKind;
  try {
    const options: ParseArgsOptionsConfig = {
      [option]: { type: 'string', default: String(usually) },
      seed: { type: 'string' },
      ...(hasStores && { store: { type: 'string' } }),
      help: { type: 'boolean' },
    };
    const { values } = parseArgs({ options });
    if (values.help === true) {
      process.stdout.write(usage);
      return 0;
    }
    times = Number(values[option]);
    if (!Number.isInteger(times) || times < 1) {
      throw new TypeError(`--${option} takes a whole number from 1, not "${values[option]}".`);
    }
    store = storeKind(values.store ?? 'sqlite');
    seed = typeof values.seed === 'string' ? values.seed : crypto.randomUUID().slice(0, 8);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  process.stderr.write(`seed ${seed}\n`);
  const report = await run({ times, seed, store, progress: (text) => process.stderr.write(`${text}\n`) });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  if (report.breaches.length === 0) return 0;
  process.stderr.write(`${report.breaches.length} promises broken; the data is in ${report.folder}\n`);
  return 1;
}
