import sallyport from './index.cjs';

export const { inputs, outputs, params, progress } = sallyport;
