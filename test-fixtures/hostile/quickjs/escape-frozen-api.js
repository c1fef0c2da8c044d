// What the host gave can't be changed.
// expect: returns ["TypeError", "TypeError", "TypeError"]
export default () => {
  const attempts = [
    () => { sallyport.log = () => {}; },
    () => { Object.setPrototypeOf(sallyport, {}); },
    () => { console.log = () => {}; },
  ];
  return { out: attempts.map((attempt) => { try { attempt(); return 'done'; } catch (error) { return error.name; } }) };
};
