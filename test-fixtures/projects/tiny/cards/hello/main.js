export default function ({ log }) {
  log('saying hello');
  return { greeting: 'Hello from a sealed card.' };
}
