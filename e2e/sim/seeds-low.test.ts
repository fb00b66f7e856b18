import { describeSeeds } from './seeds.contract.ts';

describeSeeds(1, 250);
