/** Calibration: stated confidence compared with the verdicts of people. */
import type { Calibration } from '@cairn/protocol';
import { type CallOptions, read } from './calls.ts';
import type { Connection } from './connection.ts';

export const readCalibration = (connection: Connection, options?: CallOptions): Promise<Calibration> =>
  read(connection, '/v1/host/cairn/calibration', options);
