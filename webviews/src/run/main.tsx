import './run.css';
